#include "query/rows/series_set.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "query/buckets/column_values.h"
#include "query/rows/special_points.h"
#include "storage/base/checked_sort.h"
#include "storage/codec/cell_class.h"
#include "storage/codec/row_key.h"
#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

constexpr char kAnnotationPrefix = 0x01;
// Approximate overhead of the allocator per allocation, and of a hash table per entry.
constexpr int64_t kPieceBytes = 16, kEntryBytes = 64;
// The cost of decoding an annotation or a histogram, in steps (a step is about a point).
constexpr uint64_t kObjectSteps = 16, kObjectBytesPerStep = 16;
// Number of buckets of a fill policy that can be created in the time of a step.
constexpr uint64_t kFilledPerStep = 4;
// Number of buckets of an ExtremeFold that can be compared in the time of a step.
constexpr uint64_t kFoldedPerStep = 16;
// Initial capacity of the lists of series.
constexpr size_t kFirstSeries = 8;

// Appends the kinds of a row's points to columns whose points may all have had one kind before.
void AppendKinds(const RowHour& row, size_t before, PointColumns* points) {
  bool row_uniform = row.is_double.empty();
  if (before == 0 && row_uniform) {
    points->all_double = row.all_double;
    return;
  }
  if (points->kinds.empty() && before > 0 && row_uniform && row.all_double == points->all_double)
    return;
  if (points->kinds.empty()) points->kinds.assign(before, points->all_double ? 1 : 0);
  if (row_uniform) {
    points->kinds.insert(points->kinds.end(), row.value.size(), row.all_double ? 1 : 0);
  } else {
    points->kinds.insert(points->kinds.end(), row.is_double.begin(), row.is_double.end());
  }
}

// Returns whether the row has only histograms. A series that has only such rows has no output of
// points.
bool HoldsHistogramsOnly(const RowHour& row) {
  return row.points() == 0 && !row.objects.empty() &&
         std::all_of(row.objects.begin(), row.objects.end(), [](const Cell& cell) {
           return !cell.qualifier.empty() && cell.qualifier[0] == codec::kHistogramPrefix;
         });
}

void NotePoints(int64_t first_ms, int64_t last_ms, uint64_t points, Series* series) {
  if (series->raw_points == 0) series->first_point_ms = first_ms;
  series->last_point_ms = last_ms;
  series->raw_points += points;
}

// Records the row's number of points and its first and last time, from its points or from its
// statistics.
void NoteRow(const RowHour& row, Series* series) {
  const int64_t base_ms = int64_t{row.base} * 1000;
  if (row.statistics != nullptr) {
    const RowStatistics& statistics = *row.statistics;
    NotePoints(base_ms + statistics.first_offset_ms, base_ms + statistics.last_offset_ms,
               statistics.count, series);
  } else if (!row.value.empty()) {
    NotePoints(base_ms + row.offset_ms.front(), base_ms + row.offset_ms.back(), row.value.size(),
               series);
  }
}

bool HasNegativeZero(const PointColumns& buckets) {
  constexpr auto kNegativeZero = std::bit_cast<uint64_t>(-0.0);
  return std::find(buckets.bits.begin(), buckets.bits.end(), kNegativeZero) != buckets.bits.end();
}

}  // namespace

// Sorts the series. Usually they are already sorted.
Status SortSeries(std::vector<Series>* series, MemoryTally* memory) {
  const auto by_order = [](const Series& a, const Series& b) { return a.order < b.order; };
  if (std::is_sorted(series->begin(), series->end(), by_order)) return {};
  return CheckedSort(series, by_order, memory);
}

Status SeriesSet::Read(PointScan* scan, LimitCounter* counter) {
  RowHour row;
  const bool folds = fold_ != nullptr && scan->RepeatsSeries();
  const bool by_row = fold_ != nullptr || record_ != nullptr || values_ != nullptr ||
                      refuses_stray_ || counter->limited();
  for (;;) {
    ASSIGN_OR_RETURN(bool more, scan->Next(&row));
    if (!more) return {};
    if (row.statistics == nullptr && PassOverSpecials(&row, &kept_) && row.value.empty() &&
        row.objects.empty()) {
      RETURN_IF_ERROR(counter->Count(row));
      if (record_ != nullptr) record_->Spoil(row.base);
      continue;
    }
    const bool counted = rows_again_ > 0 && row.tsuid == series_[folding_.series].tsuid;
    if (counted) {
      --rows_again_;
    } else {
      RETURN_IF_ERROR(counter->Count(row));
    }
    if (refuses_stray_ && IsStray(row)) return Status::Conflict("row " + ToHexUpper(row.key));
    if (values_ != nullptr) {
      RETURN_IF_ERROR(FilterValues(scan, &row));
      if (row.points() == 0 && row.objects.empty()) continue;
    }
    if (histograms_ ? row.objects.empty() : HoldsHistogramsOnly(row)) {
      if (record_ != nullptr) record_->Spoil(row.base);
      continue;
    }
    ASSIGN_OR_RETURN(size_t index, IndexOf(row));
    if (index == kRefused) continue;
    const bool recorded = record_ != nullptr && record_->Wants(row);
    if (recorded) BeginRecord(row, index);
    if (!counted) {
      ++rows_admitted_;
      points_admitted_ += row.points();
    }
    if (folds) {
      ASSIGN_OR_RETURN(const bool folded, Fold(scan, &row, index));
      if (folded) continue;
    }
    if (row.statistics != nullptr && !histograms_) {
      ASSIGN_OR_RETURN(const bool added, AddStatistics(row, index));
      if (added && !by_row) RETURN_IF_ERROR(AddHours(scan, counter, index));
      if (added) continue;
      RETURN_IF_ERROR(memory_.Step(row.points()));
      RETURN_IF_ERROR(scan->Load(&row));
    }
    if (!row.value.empty() && !histograms_) RETURN_IF_ERROR(AddPoints(row, index));
    if (!row.objects.empty()) RETURN_IF_ERROR(AddObjects(row, &series_[index]));
    if (recorded) RETURN_IF_ERROR(EndRecord(index));
  }
}

bool SeriesSet::IsStray(const RowHour& row) {
  if (row.base % kRowSpan != 0) return true;
  if (layout_.salt_width == 0) return false;
  regular_key_.clear();
  codec::AppendRowKey(layout_, row.tsuid, row.base, &regular_key_);
  return regular_key_ != row.key;
}

void SeriesSet::BeginRecord(const RowHour& row, size_t index) {
  recorded_ = {};
  recorded_.base = row.base;
  recorded_.series = static_cast<uint32_t>(index);
  if (!row.value.empty()) {
    recorded_.points = static_cast<uint32_t>(row.value.size());
    recorded_.first_ms = row.offset_ms.front();
    recorded_.last_ms = row.offset_ms.back();
  }
  recorded_.buckets_begin = static_cast<uint32_t>(series_[index].points.size());
  recorded_.notes_begin = static_cast<uint32_t>(series_[index].annotations.size());
}

// Ends the record of a row. The buckets end here, so that the next row starts a new bucket and the
// buckets of each hour can be cached separately.
Status SeriesSet::EndRecord(size_t index) {
  RETURN_IF_ERROR(memory_.Add(2 * static_cast<int64_t>(sizeof(recorded_))));
  RETURN_IF_ERROR(TakeBuckets(index));
  recorded_.buckets_end = static_cast<uint32_t>(series_[index].points.size());
  recorded_.notes_end = static_cast<uint32_t>(series_[index].annotations.size());
  record_->Add(recorded_);
  return {};
}

// Appends the downsampler's buckets to the buckets that were taken before.
Status SeriesSet::TakeBuckets(size_t index) {
  Downsampler& downsampler = downsamplers_[index];
  PointColumns& points = series_[index].points;
  const int64_t before = downsampler.MemoryBytes();
  const size_t filled = grid_->fill_grid().size();
  if (filled >= kFilledPerStep) RETURN_IF_ERROR(memory_.Step(filled / kFilledPerStep));
  RETURN_IF_ERROR(memory_.Add(downsampler.MemoryBytesAtFinish() - before));
  if (points.time_ms.empty()) {
    RETURN_IF_ERROR(downsampler.Finish(&points));
  } else {
    PointColumns later;
    RETURN_IF_ERROR(downsampler.Finish(&later));
    RETURN_IF_ERROR(MakeRoom(later.size(), &points));
    points.time_ms.insert(points.time_ms.end(), later.time_ms.begin(), later.time_ms.end());
    points.bits.insert(points.bits.end(), later.bits.begin(), later.bits.end());
    memory_.Remove(before);
  }
  downsampler = Downsampler(grid_);
  return {};
}

Status SeriesSet::FilterValues(PointScan* scan, RowHour* row) {
  if (row->statistics != nullptr) {
    if (values_->AdmitsAll(*row->statistics)) return {};
    if (!values_->AdmitsSome(*row->statistics)) {
      row->statistics = nullptr;
      return {};
    }
    RETURN_IF_ERROR(memory_.Step(row->points()));
    RETURN_IF_ERROR(scan->Load(row));
  }
  values_->Apply(row, &kept_);
  return {};
}

ByteView SeriesSet::HourPart(const RowHour& row) const {
  if (!histograms_ || layout_.salt_width == 0) return {};
  constexpr size_t kBaseBytes = sizeof(row.base);
  const auto salt_width = static_cast<size_t>(layout_.salt_width);
  const auto base_end = salt_width + static_cast<size_t>(layout_.metric_width) + kBaseBytes;
  const size_t part = std::min(salt_width, kBaseBytes);
  return row.key.substr(base_end - part, part);
}

// Scans of an index return series in ascending order. While the order is ascending, a search in the
// sorted list `seen_` needs no hash map.
size_t SeriesSet::PositionOf(ByteView identity) {
  if (rising_) {
    if (seen_.empty() || IdentityOf(seen_.back()) < identity) return seen_.size();
    const auto found =
        std::lower_bound(seen_.begin(), seen_.end(), identity,
                         [this](const Seen& seen, ByteView id) { return IdentityOf(seen) < id; });
    if (IdentityOf(*found) == identity) return static_cast<size_t>(found - seen_.begin());
    rising_ = false;
    for (size_t i = 0; i < seen_.size(); ++i) positions_.emplace(IdentityOf(seen_[i]), i);
    return seen_.size();
  }
  const auto known = positions_.find(Bytes(identity));
  return known != positions_.end() ? known->second : seen_.size();
}

// A scan returns rows series by series, or hour by hour with the series in the same order. So a row
// usually belongs to the series of the previous row, or to the series that first appeared after
// that one.
Result<size_t> SeriesSet::IndexOf(const RowHour& row) {
  const ByteView hour_part = HourPart(row);
  ByteView identity = row.tsuid;
  if (!hour_part.empty()) {
    identity_.assign(row.tsuid).append(hour_part);
    identity = identity_;
  }
  if (position_ < seen_.size() && IdentityOf(seen_[position_]) == identity)
    return seen_[position_].index;
  size_t next = position_ + 1 < seen_.size() ? position_ + 1 : 0;
  if (next < seen_.size() && IdentityOf(seen_[next]) == identity) {
    position_ = next;
    return seen_[position_].index;
  }
  if (const size_t known = PositionOf(identity); known < seen_.size()) {
    position_ = known;
    return seen_[position_].index;
  }
  size_t index = series_.size();
  if (filter_ != nullptr && filter_->decides()) {
    ASSIGN_OR_RETURN(bool admitted, filter_->Admits(row.tsuid));
    if (!admitted) index = kRefused;
  }
  const auto name_bytes = static_cast<int64_t>(identity.size()) + kPieceBytes;
  RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(sizeof(Seen)) + kEntryBytes + name_bytes));
  position_ = seen_.size();
  if (seen_.empty()) seen_.reserve(kFirstSeries);
  const bool by_series = index != kRefused && hour_part.empty();
  seen_.push_back({by_series ? Bytes() : Bytes(identity), index});
  if (!rising_) positions_.emplace(identity, position_);
  if (index == kRefused) return index;
  // Charges for twice the size of an element, because vectors grow by doubling.
  const size_t downsampler_bytes = grid_ != nullptr ? sizeof(Downsampler) : 0;
  RETURN_IF_ERROR(
      memory_.Add(static_cast<int64_t>(2 * (sizeof(Series) + downsampler_bytes)) + 2 * name_bytes));
  Series series;
  series.tsuid.assign(row.tsuid);
  series.order.assign(row.key.substr(0, static_cast<size_t>(layout_.salt_width)));
  series.order.append(hour_part);
  series.order.append(row.tsuid.substr(static_cast<size_t>(layout_.metric_width)));
  if (series_.empty()) {
    series_.reserve(kFirstSeries);
    if (grid_ != nullptr) downsamplers_.reserve(kFirstSeries);
  }
  series_.push_back(std::move(series));
  if (grid_ != nullptr) downsamplers_.emplace_back(grid_);
  return index;
}

Result<bool> SeriesSet::Fold(PointScan* scan, RowHour* row, size_t index) {
  if (index != folding_.series) {
    folding_ = {};
    folding_.series = index;
    rows_again_ = 0;  // if rows of the previous series were deleted, some were not returned again
  }
  if (folding_.alone) return false;
  ++folding_.rows;
  if (row->base % kRowSpan != 0) return FoldNoMore(scan);
  const int64_t base_ms = int64_t{row->base} * 1000, interval = fold_->interval_ms();
  // A gap that ends at or before the first bucket of the result does not count, because no value is
  // interpolated in it.
  const auto follows = [&](int64_t bucket_ms) {
    return folding_.rows == 1 || bucket_ms == folding_.next_ms || bucket_ms <= fold_->first_ms();
  };
  Series& series = series_[index];
  if (folding_.rows > 1 && folding_.next_ms > fold_->last_ms()) {
    NoteRow(*row, &series);
    ++rows_spared_;
    ++folding_.spared;
    return true;
  }
  if (row->statistics != nullptr) {
    const RowStatistics& statistics = *row->statistics;
    const int64_t first_ms = base_ms + statistics.first_offset_ms;
    const int64_t last_ms = base_ms + statistics.last_offset_ms;
    const uint32_t step_ms = scan->StepMs();
    const bool no_gap = step_ms > 0 && step_ms <= interval;
    if (no_gap && follows(first_ms - first_ms % interval) && !fold_->Needs(base_ms, statistics)) {
      folding_.next_ms = last_ms - last_ms % interval + interval;
      NoteRow(*row, &series);
      ++rows_spared_;
      ++folding_.spared;
      return true;
    }
    RETURN_IF_ERROR(memory_.Step(row->points()));
    RETURN_IF_ERROR(scan->Load(row));
  }
  if (row->value.empty()) return FoldNoMore(scan);
  RETURN_IF_ERROR(BucketsOf(*row, &buckets_));
  const std::vector<int64_t>& starts = buckets_.time_ms;
  const bool gap =
      starts.empty() || !follows(starts.front()) ||
      starts.back() - starts.front() != interval * static_cast<int64_t>(starts.size() - 1);
  if (gap) return FoldNoMore(scan);
  folding_.next_ms = starts.back() + interval;
  NoteRow(*row, &series);
  if (const size_t looked_at = fold_->Take(buckets_); looked_at >= kFoldedPerStep)
    RETURN_IF_ERROR(memory_.Step(looked_at / kFoldedPerStep));
  return true;
}

// The series is handled without ExtremeFold from now on. Its values may stay in ExtremeFold,
// because they are values of its buckets.
bool SeriesSet::FoldNoMore(PointScan* scan) {
  folding_.alone = true;
  if (folding_.rows == 1) return false;
  series_[folding_.series].raw_points = 0;
  rows_again_ = folding_.rows;
  rows_spared_ -= folding_.spared;
  scan->RepeatSeries();
  return true;
}

Status SeriesSet::BucketsOf(const RowHour& row, PointColumns* buckets) {
  Downsampler downsampler(grid_);
  RETURN_IF_ERROR(Downsample(row, &downsampler));
  memory_.Remove(downsampler.MemoryBytes());
  RETURN_IF_ERROR(downsampler.Finish(buckets));
  return HasNegativeZero(*buckets) ? Status::Conflict("-0.0") : Status();
}

Result<bool> SeriesSet::AddStatistics(const RowHour& row, size_t index) {
  if (grid_ == nullptr) return false;
  const RowStatistics& statistics = *row.statistics;
  const int64_t base_ms = int64_t{row.base} * 1000;
  Downsampler& downsampler = downsamplers_[index];
  const int64_t before = downsampler.MemoryBytes(), most = downsampler.MemoryBytesAfter(1);
  if (most > before) RETURN_IF_ERROR(memory_.Add(most - before));
  const bool added = downsampler.AddStatistics(base_ms, statistics, any_order_);
  if (most > before) memory_.Remove(most - downsampler.MemoryBytes());
  RETURN_IF_ERROR(StepOverCalendar(&downsampler));
  if (!added) return false;
  NoteRow(row, &series_[index]);
  return true;
}

Status SeriesSet::AddHours(PointScan* scan, LimitCounter* counter, size_t index) {
  Downsampler& downsampler = downsamplers_[index];
  for (;;) {
    const std::span<const HourStatistics> hours = scan->StatisticsAhead();
    if (hours.empty()) return {};
    const int64_t before = downsampler.MemoryBytes();
    const int64_t most = downsampler.MemoryBytesAfter(hours.size() + 1);
    RETURN_IF_ERROR(memory_.Add(most - before));
    const size_t added = downsampler.AddStatistics(hours, any_order_);
    memory_.Remove(most - downsampler.MemoryBytes());
    uint64_t points = 0;
    for (const HourStatistics& hour : hours.first(added)) {
      const int64_t base_ms = int64_t{hour.base} * 1000;
      NotePoints(base_ms + hour.statistics.first_offset_ms,
                 base_ms + hour.statistics.last_offset_ms, hour.statistics.count, &series_[index]);
      points += hour.statistics.count;
    }
    rows_admitted_ += added;
    points_admitted_ += points;
    scan->Pass(added);
    RETURN_IF_ERROR(counter->CountHours(added, points));
    RETURN_IF_ERROR(StepOverCalendar(&downsampler));
    if (added < hours.size()) return {};
  }
}

Status SeriesSet::AddPoints(const RowHour& row, size_t index) {
  Series& series = series_[index];
  size_t n = row.value.size();
  int64_t base_ms = int64_t{row.base} * 1000;
  NoteRow(row, &series);
  if (grid_ != nullptr) return Downsample(row, &downsamplers_[index]);
  PointColumns& points = series.points;
  RETURN_IF_ERROR(MakeRoom(n, &points));
  size_t before = points.size();
  const size_t kinds_before = points.kinds.capacity();
  AppendKinds(row, before, &points);
  RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(points.kinds.capacity() - kinds_before)));
  points.time_ms.resize(before + n);
  for (size_t i = 0; i < n; ++i) points.time_ms[before + i] = base_ms + row.offset_ms[i];
  points.bits.insert(points.bits.end(), row.value.begin(), row.value.end());
  return {};
}

Status SeriesSet::Downsample(const RowHour& row, Downsampler* downsampler) {
  const size_t n = row.value.size();
  const int64_t base_ms = int64_t{row.base} * 1000;
  const int64_t before = downsampler->MemoryBytes();
  const int64_t most = downsampler->MemoryBytesAfter(n);
  RETURN_IF_ERROR(memory_.Add(most - before));
  if (row.is_double.empty() && !row.all_double) {
    downsampler->Add(base_ms, row.offset_ms,
                     {reinterpret_cast<const int64_t*>(row.value.data()), n});
  } else {
    doubles_.resize(n);
    if (row.is_double.empty()) {
      std::memcpy(doubles_.data(), row.value.data(), n * sizeof(double));
    } else {
      for (size_t i = 0; i < n; ++i) {
        doubles_[i] = row.is_double[i] ? std::bit_cast<double>(row.value[i])
                                       : static_cast<double>(static_cast<int64_t>(row.value[i]));
      }
    }
    downsampler->Add(base_ms, row.offset_ms, doubles_);
  }
  memory_.Remove(most - downsampler->MemoryBytes());
  return StepOverCalendar(downsampler);
}

Status SeriesSet::StepOverCalendar(Downsampler* downsampler) {
  const uint64_t steps = downsampler->TakeCalendarSteps();
  return steps > 0 ? memory_.Step(steps) : Status();
}

// Charges memory before it is allocated, because the doubled size of a long series may exceed the
// budget.
Status SeriesSet::MakeRoom(size_t points, PointColumns* columns) {
  const size_t size = columns->size() + points, room = columns->time_ms.capacity();
  if (size <= room) return {};
  const size_t wanted = std::max(size, 2 * room);
  RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(wanted) * kPointBytes));
  columns->time_ms.reserve(wanted);
  columns->bits.reserve(wanted);
  memory_.Remove(static_cast<int64_t>(room) * kPointBytes);
  return {};
}

Status SeriesSet::AddObjects(const RowHour& row, Series* series) {
  for (const Cell& cell : row.objects) {
    RETURN_IF_ERROR(memory_.Step(kObjectSteps + cell.value.size() / kObjectBytesPerStep));
    if (cell.qualifier.empty()) continue;
    if (histograms_ && cell.qualifier[0] == codec::kHistogramPrefix)
      RETURN_IF_ERROR(AddHistogram(row, cell, series));
    if (cell.qualifier[0] != kAnnotationPrefix) continue;
    ASSIGN_OR_RETURN(codec::Annotation annotation, codec::DecodeAnnotation(cell.value));
    RETURN_IF_ERROR(memory_.Add(2 * MemoryBytes(annotation)));  // vectors grow by doubling
    series->annotations.push_back(std::move(annotation));
  }
  return {};
}

Status SeriesSet::AddHistogram(const RowHour& row, const Cell& cell, Series* series) {
  ASSIGN_OR_RETURN(const uint32_t offset_ms, codec::HistogramOffsetMs(cell.qualifier));
  ASSIGN_OR_RETURN(codec::SimpleHistogram histogram, codec::DecodeSimpleHistogram(cell.value));
  RETURN_IF_ERROR(memory_.Add(HistogramBytes(histogram)));
  const int64_t time_ms = int64_t{row.base} * 1000 + offset_ms;
  if (series->raw_points++ == 0) series->first_point_ms = time_ms;
  series->last_point_ms = time_ms;
  series->histograms.push_back({time_ms, std::move(histogram)});
  return {};
}

Status SeriesSet::Finish() {
  if (histograms_) downsamplers_.clear();
  for (size_t i = 0; i < downsamplers_.size(); ++i) {
    if (series_[i].raw_points == 0) continue;
    RETURN_IF_ERROR(TakeBuckets(i));
    RETURN_IF_ERROR(memory_.Step(series_[i].points.size()));
    if (fold_ != nullptr && HasNegativeZero(series_[i].points)) return Status::Conflict("-0.0");
  }
  downsamplers_.clear();
  if (record_ != nullptr) RETURN_IF_ERROR(RenumberRecord());
  return SortSeries(&series_, &memory_);
}

Status SeriesSet::RenumberRecord() {
  std::vector<uint32_t> sorted(series_.size()), places(series_.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  const auto by_order = [this](uint32_t a, uint32_t b) {
    return series_[a].order < series_[b].order;
  };
  RETURN_IF_ERROR(CheckedSort(&sorted, by_order, &memory_));
  for (uint32_t i = 0; i < sorted.size(); ++i) places[sorted[i]] = i;
  record_->Renumber(places);
  return {};
}

}  // namespace hg::query
