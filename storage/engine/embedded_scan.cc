#include "storage/engine/embedded_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "storage/codec/cell_class.h"
#include "storage/codec/row_key.h"
#include "storage/engine/row_file.h"
#include "storage/lsm/cell_file.h"
#include "storage/points/match_series.h"
#include "storage/points/points_over_cells.h"
#include "storage/points/reconcile.h"
#include "storage/points/row_layout.h"
#include "storage/points/row_statistics.h"

namespace hg::points {
namespace {

// What a series costs that has no rows, and finding a row in a file, measured in points.
constexpr uint64_t kSeriesSteps = 8, kFileRowSteps = 8;
// What a scan is expected to cost before it is known which rows there are: a range often begins
// long before its points do.
constexpr size_t kSeriesAhead = 16;
constexpr uint64_t kRowsBetweenSteps = 4096;
// The watch is one place for all threads of a query: it is told of so many steps at once.
constexpr uint64_t kStepsAtOnce = 512;
constexpr uint64_t kExpectedHoursMax = 24, kExpectedRowSteps = 64, kExpectedStatisticsSteps = 16;

bool IsObject(ByteView qualifier) {
  const auto kind = codec::ClassifyQualifier(qualifier);
  return kind == codec::CellClass::kAnnotation || kind == codec::CellClass::kHistogram;
}

template <typename T>
bool ByBase(const T& a, const T& b) {
  return a.base < b.base;
}

uint64_t ExpectedRows(size_t series, const RowRange& rows) {
  return series * std::min((rows.end - rows.begin) / kRowSpan + 1, kExpectedHoursMax);
}

// The rows (sorted by base) of that base. None of it stands before *at, which moves to the first.
template <typename Rows>
auto RowsOf(const Rows& rows, uint32_t base, size_t* at) {
  while (*at < rows.size() && rows[*at].base < base) ++*at;
  const auto first = rows.begin() + static_cast<ptrdiff_t>(*at);
  auto end = first;
  while (end != rows.end() && end->base == base) ++end;
  return std::pair(first, end);
}

int64_t OldestPointMs(const Engine& engine, int64_t now_ms) {
  const Table& table = *engine.points_table();
  return OldestSeenMs(table.families[static_cast<size_t>(table.points_family)], now_ms);
}

// Without the hours that have expired whole.
RowRange SeenOf(const RowRange& rows, int64_t oldest_ms) {
  if (oldest_ms <= 0) return rows;
  RowRange seen = rows;
  const auto hour = static_cast<uint64_t>(oldest_ms / 1000 / kRowSpan * kRowSpan);
  if (hour >= seen.end || hour > UINT32_MAX) {
    seen.end = seen.begin;
  } else {
    seen.begin = std::max(seen.begin, static_cast<uint32_t>(hour));
  }
  return seen;
}

// Of most stores nothing but points is known.
bool HoldsCells(const Version& version, uint32_t table) {
  for (const auto& generation : version.generations) {
    const lsm::CellMemory* const cells = generation->Cells(table);
    if (cells != nullptr && !cells->empty()) return true;
  }
  for (auto it = version.runs.lower_bound({table, 0});
       it != version.runs.end() && it->first.first == table; ++it) {
    for (const auto& run : it->second) {
      if (run->cells() != nullptr) return true;
    }
  }
  return false;
}

// Nothing to settle: one point at each instant and no other cell that holds points.
bool IsPlain(const Part& part) {
  for (const RawCell& cell : part.raw) {
    if (TouchesPoints(cell.qualifier)) return false;
  }
  for (size_t i = 1; i < part.points.size(); ++i) {
    if (part.points[i].offset_ms() == part.points[i - 1].offset_ms()) return false;
  }
  return true;
}

}  // namespace

EmbeddedScan::EmbeddedScan(const Engine& engine, std::shared_ptr<const Version> version,
                           std::vector<uint32_t> series, PointScanSpec spec,
                           const ReconcileOptions& options, UnsettledRowListener listener)
    : engine_(engine),
      spec_(std::move(spec)),
      options_(options),
      listener_(std::move(listener)),
      render_options_(engine.render_options()),
      oldest_ms_(OldestPointMs(engine, render_options_.now_ms)),
      version_(std::move(version)),
      series_(std::move(series)),
      memory_(spec_.watch) {
  const uint64_t hours = ExpectedRows(1, spec_.rows);
  bases_.reserve(hours);
  file_rows_.reserve(hours);
}

Result<std::unique_ptr<EmbeddedScan>> EmbeddedScan::Open(const Engine& engine,
                                                         const PointScanSpec& spec,
                                                         const ReconcileOptions& options,
                                                         UnsettledRowListener listener) {
  if (spec.metric.size() != static_cast<size_t>(engine.layout().metric_width)) {
    return Status::InvalidArgument("a metric of " + std::to_string(spec.metric.size()) +
                                   " bytes, not " + std::to_string(engine.layout().metric_width));
  }
  PointScanSpec seen = spec;
  seen.rows = SeenOf(spec.rows, OldestPointMs(engine, engine.render_options().now_ms));
  RETURN_IF_ERROR(engine.registry().MayMatch(spec.metric, spec.matcher));
  std::vector<uint32_t> series = engine.registry().Match(spec.metric, spec.matcher);
  // What waits for its turn should do so now: from here on the scan keeps memory that the store
  // has flushed.
  if (spec.watch != nullptr) {
    const uint64_t each = spec.statistics ? kExpectedStatisticsSteps : kExpectedRowSteps;
    RETURN_IF_ERROR(spec.watch->Step(ExpectedRows(series.size(), seen.rows) * each));
  }
  std::unique_ptr<EmbeddedScan> scan(new EmbeddedScan(
      engine, engine.Pin(), std::move(series), std::move(seen), options, std::move(listener)));
  RETURN_IF_ERROR(
      scan->memory_.Add(static_cast<int64_t>(scan->series_.capacity() * sizeof(uint32_t))));
  RETURN_IF_ERROR(scan->LoadCells());
  return scan;
}

uint64_t EmbeddedScan::RowsExpected() const { return ExpectedRows(series_.size(), spec_.rows); }

// Rows that are in memory have none; the hours that are there are mostly those of all series.
bool EmbeddedScan::ExpectsStatistics() const {
  constexpr int kRowsLookedAt = 8;
  if (!spec_.statistics || series_.empty()) return false;
  for (const auto& generation : version_->generations) {
    const RowHourMemory* row = generation->rows.Newest(series_.front());
    for (int i = 0; row != nullptr && row->base() >= spec_.rows.end; row = row->older()) {
      if (++i == kRowsLookedAt) return false;
    }
    if (row != nullptr && row->base() >= spec_.rows.begin) return false;
  }
  return true;
}

// What the cells take stays charged to this scan.
std::vector<std::unique_ptr<PointScan>> EmbeddedScan::Cut(size_t parts) {
  std::vector<std::unique_ptr<PointScan>> cut;
  // An irregular row may be of a series that a part has rows of, too: all of them are one scan's.
  if (!irregular_.empty()) return cut;
  for (size_t i = 0; i < parts; ++i) {
    const auto place = [&](size_t part) {
      return series_.begin() + static_cast<ptrdiff_t>(series_.size() * part / parts);
    };
    std::vector<uint32_t> series(place(i), place(i + 1));
    std::unique_ptr<EmbeddedScan> scan(
        new EmbeddedScan(engine_, version_, std::move(series), spec_, options_, listener_));
    for (const uint32_t number : scan->series_) {
      if (cells_.empty()) break;
      const auto first = cells_.lower_bound({number, 0});
      auto end = first;
      for (; end != cells_.end() && end->first.first == number; ++end) {
        scan->cells_[end->first] = std::move(end->second);
      }
      cells_.erase(first, end);
    }
    if (i + 1 == parts) scan->misfit_ = std::move(misfit_);
    cut.push_back(std::move(scan));
  }
  series_.clear();
  return cut;
}

Status EmbeddedScan::LoadCells() {
  if (!HoldsCells(*version_, engine_.points_table()->id)) return {};
  const std::string& table = engine_.points_table()->descriptor.name;
  for (const ScanSpec& bucket :
       BucketScans(engine_.layout(), table, spec_.metric, spec_.rows, spec_.batch_rows)) {
    RETURN_IF_ERROR(LoadCellsOfBucket(bucket.start, bucket.stop));
  }
  std::sort(irregular_.begin(), irregular_.end(),
            [](const IrregularRow& a, const IrregularRow& b) { return a.key < b.key; });
  irregular_.erase(std::unique(irregular_.begin(), irregular_.end(),
                               [](const auto& a, const auto& b) { return a.key == b.key; }),
                   irregular_.end());
  return {};
}

Status EmbeddedScan::LoadCellsOfBucket(ByteView start, ByteView stop) {
  const Table& table = *engine_.points_table();
  size_t source = 0;
  for (const auto& generation : version_->generations) {
    if (const lsm::CellMemory* cells = generation->Cells(table.id)) {
      const auto rows = lsm::ScanMemory(*cells, Bytes(start), Bytes(stop));
      for (;;) {
        ASSIGN_OR_RETURN(const bool more, rows->Next());
        if (!more) break;
        // Memory is read again together with the points; only which rows there are counts here.
        lsm::CellRow none;
        RETURN_IF_ERROR(NoteKey(rows->key(), source, &none));
      }
    }
    ++source;
  }
  const region::RegionMap& regions = version_->RegionsOf(table.id);
  const auto [first, end] = regions.Overlapping(start, stop);
  for (size_t region = first; region < end; ++region) {
    Bytes from(start), to(stop);
    if (!region::ClipKeys(regions, region, &from, &to)) continue;
    size_t run_source = source;
    for (const auto& run : version_->RunsOf(table.id, regions.Id(region))) {
      const size_t this_source = run_source++;
      if (run->cells() == nullptr) continue;
      const auto rows = lsm::ScanRows(run->cells(), from, to);
      for (;;) {
        ASSIGN_OR_RETURN(const bool more, rows->Next());
        if (!more) break;
        lsm::CellRow row = rows->TakeRow();
        RETURN_IF_ERROR(NoteKey(rows->key(), this_source, &row));
      }
    }
  }
  return {};
}

Status EmbeddedScan::NoteKey(const Bytes& key, size_t source, lsm::CellRow* row) {
  constexpr size_t kEntryBytes = 128;  // a place in the map and in its list, roughly
  RETURN_IF_ERROR(memory_.Step(1 + row->cells.size()));
  const KeyLayout& layout = engine_.layout();
  Bytes tsuid;
  uint32_t base;
  const auto prefix = std::min(key.size(), static_cast<size_t>(layout.prefix_width()));
  if (!MatchesSeries(spec_.matcher, layout, spec_.metric, ByteView(key).substr(prefix))) return {};
  RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(kEntryBytes + key.size() + row->MemoryBytes())));
  if (IsRegularKey(layout, key, &tsuid, &base)) {
    if (const auto series = engine_.registry().Find(tsuid)) {
      cells_[{*series, base}].emplace_back(source, std::move(*row));
      return {};
    }
  }
  const auto decoded = codec::RowKey::Decode(layout, key);
  if (decoded.ok()) {
    irregular_.push_back({key, decoded->base()});
  } else if (misfit_.ok()) {
    misfit_ = Status::InvalidArgument(std::string(decoded.status().message()));
  }
  return {};
}

// Moves to the next row that may be given.
Result<bool> EmbeddedScan::NextPlace(bool* irregular, uint32_t* series, uint32_t* base) {
  while (next_base_ >= bases_.size() && next_series_ < series_.size()) {
    RETURN_IF_ERROR(StartSeries(series_[next_series_++]));
  }
  *irregular = next_base_ >= bases_.size();
  if (*irregular) return next_irregular_ < irregular_.size();
  *series = series_[next_series_ - 1];
  *base = bases_[next_base_++];
  const KeyLayout& layout = engine_.layout();
  if (next_base_ > 1) {
    codec::SetRowKeyBase(layout, *base, &key_);
    return true;
  }
  tsuid_ = engine_.registry().Tsuid(*series);
  key_.clear();
  codec::AppendRowKey(layout, tsuid_, *base, &key_);
  return true;
}

// All rows of a series in memory are one list, newest first; those of several series are walked in
// step.
Status EmbeddedScan::LookAhead() {
  ahead_series_ = next_series_ - 1;
  ahead_.clear();
  ahead_ends_.clear();
  prefetched_ = 0;
  const size_t count = std::min(kSeriesAhead, series_.size() - ahead_series_);
  std::array<std::vector<MemoryRow>, kSeriesAhead> found;
  uint64_t walked = 0;  // rows, also of hours that are not asked for
  for (size_t source = 0; source < version_->generations.size(); ++source) {
    std::array<const RowHourMemory*, kSeriesAhead> at;
    for (size_t i = 0; i < count; ++i) {
      at[i] = version_->generations[source]->rows.Newest(series_[ahead_series_ + i]);
      __builtin_prefetch(at[i]);
    }
    for (bool more = true; more;) {
      more = false;
      for (size_t i = 0; i < count; ++i) {
        const RowHourMemory* const row = at[i];
        if (row == nullptr) continue;
        if (row->base() >= spec_.rows.begin && row->base() < spec_.rows.end) {
          found[i].push_back({row->base(), source, row});
        }
        at[i] = row->older();
        __builtin_prefetch(at[i]);
        ++walked;
        more = true;
      }
      if (walked >= kRowsBetweenSteps) RETURN_IF_ERROR(memory_.Step(std::exchange(walked, 0)));
    }
  }
  ahead_ends_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    std::stable_sort(found[i].begin(), found[i].end(), ByBase<MemoryRow>);
    ahead_.insert(ahead_.end(), found[i].begin(), found[i].end());
    ahead_ends_.push_back(ahead_.size());
  }
  return {};
}

Status EmbeddedScan::Step(uint64_t steps) {
  steps_ += steps;
  return steps_ < kStepsAtOnce ? Status() : memory_.Step(std::exchange(steps_, 0));
}

Status EmbeddedScan::StartSeries(uint32_t series) {
  RETURN_IF_ERROR(Step(kSeriesSteps));
  bases_.clear();
  hours_.clear();
  next_base_ = hours_begin_ = 0;
  file_at_ = memory_at_ = 0;
  size_t place = next_series_ - 1 - ahead_series_;
  if (ahead_ends_.empty() || place >= ahead_ends_.size()) {
    RETURN_IF_ERROR(LookAhead());
    place = 0;
  }
  const size_t begin = place == 0 ? 0 : ahead_ends_[place - 1];
  memory_rows_ = {ahead_.data() + begin, ahead_ends_[place] - begin};
  for (const MemoryRow& row : memory_rows_) bases_.push_back(row.base);
  RETURN_IF_ERROR(ReadFileRows(engine_.registry().Tsuid(series)));
  for (const FileRow& row : file_rows_) bases_.push_back(row.base);
  if (!cells_.empty()) {
    for (auto it = cells_.lower_bound({series, 0}); it != cells_.end() && it->first.first == series;
         ++it) {
      bases_.push_back(it->first.second);
    }
  }
  in_files_alone_ = bases_.size() == file_rows_.size();
  if (!std::is_sorted(bases_.begin(), bases_.end())) std::sort(bases_.begin(), bases_.end());
  bases_.erase(std::unique(bases_.begin(), bases_.end()), bases_.end());
  in_files_alone_ = in_files_alone_ && bases_.size() == file_rows_.size();
  return {};
}

Status EmbeddedScan::ReadFileRows(ByteView tsuid) {
  file_rows_.clear();
  file_blocks_.clear();
  memory_.Remove(std::exchange(file_bytes_, 0));
  const Table& table = *engine_.points_table();
  const KeyLayout& layout = engine_.layout();
  const region::RegionMap& regions = version_->RegionsOf(table.id);
  if (regions.count() > 1 || slices_.empty()) {  // of one region they are the same for all series
    region::SlicesOf(regions, RowKeyPrefix(layout, tsuid), spec_.rows, &slices_);
  }
  for (const region::SeriesSlice& slice : slices_) {
    size_t source = version_->generations.size();
    for (const auto& run : version_->RunsOf(table.id, slice.region)) {
      RETURN_IF_ERROR(ReadRunRows(*run, source++, tsuid, slice.bases));
    }
  }
  if (!std::is_sorted(file_rows_.begin(), file_rows_.end(), ByBase<FileRow>)) {
    std::stable_sort(file_rows_.begin(), file_rows_.end(), ByBase<FileRow>);
  }
  return {};
}

Status EmbeddedScan::ReadRunRows(const Run& run, size_t source, ByteView tsuid,
                                 const RowRange& bases) {
  if (run.points() == nullptr) return {};
  first_key_ = RowFileKey(engine_.layout(), tsuid, bases.begin);
  const ByteView series = ByteView(first_key_).substr(0, first_key_.size() - 4);
  const auto base_of = [&](ByteView key) { return ReadBig32(key.data() + series.size()); };
  auto [at, first_time] = cursors_.try_emplace(&run);
  std::optional<lsm::BlockFileScan>& cursor = at->second.scan;
  bool there = false;  // at an entry that was not looked at
  if (first_time) {
    if (run.points()->MayHoldTime(TimesOf(spec_.rows)))
      cursor.emplace(run.points(), first_key_, "");
  } else if (cursor) {
    // Mostly the series is the one behind the last: its first entry was met where that one ended.
    const Bytes& key = cursor->key();
    there = at->second.beyond && key.size() == first_key_.size() && key.starts_with(series) &&
            base_of(key) >= bases.begin;
    if (!there) cursor->Seek(first_key_);
  }
  if (!cursor) return {};
  at->second.beyond = false;
  const size_t before = file_rows_.size();
  size_t charged = before;
  const auto charge = [&](size_t more) -> Status {
    const auto bytes =
        static_cast<int64_t>(more + 2 * sizeof(FileRow) * (file_rows_.size() - charged));
    RETURN_IF_ERROR(memory_.Add(bytes));
    file_bytes_ += bytes;
    charged = file_rows_.size();
    return {};
  };
  for (;;) {
    if (!there) {
      ASSIGN_OR_RETURN(const bool more, cursor->Next());
      if (!more) break;
    }
    there = false;
    const Bytes& key = cursor->key();
    const bool same = key.size() == first_key_.size() && key.starts_with(series);
    at->second.beyond = !same;
    if (!same) break;
    const uint32_t base = base_of(key);
    if (base >= bases.end) break;
    if (const auto& block = cursor->block(); file_blocks_.empty() || file_blocks_.back() != block) {
      RETURN_IF_ERROR(charge(block->capacity()));
      file_blocks_.push_back(block);
    }
    file_rows_.push_back({base, source, cursor->value()});
  }
  RETURN_IF_ERROR(charge(0));
  return Step(kFileRowSteps * (file_rows_.size() - before));
}

// Most rows hold nothing but points, one at each instant: what each source has of them is decoded
// behind what the older ones have. False: it is another row.
Result<bool> EmbeddedScan::ReadColumns(uint32_t base, RowForm* form) {
  columns_.Clear();
  const auto [first_file, end_file] = RowsOf(file_rows_, base, &file_at_);
  for (auto it = end_file; it != first_file;) {
    --it;
    auto summary = ReadRowSummary(it->encoded);
    if (!summary.ok()) return Prepend(summary.status(), "row " + ToHexUpper(key_));
    const RowTraits& traits = summary->traits;
    if (traits.dups || traits.has_raw) return false;
    if (Status status = AppendColumns(it->encoded, &columns_); !status.ok()) {
      return Prepend(status, "row " + ToHexUpper(key_));
    }
    *form = JoinForms(*form, traits.form);
  }
  const auto [first, end] = RowsOf(memory_rows_, base, &memory_at_);
  if (first != end)
    PrefetchPast(
        static_cast<size_t>(memory_rows_.data() - ahead_.data() + (end - memory_rows_.begin())));
  for (auto it = end; it != first;) {
    --it;
    RowForm memory_form;
    if (!it->row->AppendTo(&columns_, &memory_form)) return false;
    // Whoever changes both points and cells of a row sets the flag first.
    if ((it->row->flags() & RowHourMemory::kRaw) != 0) return false;
    *form = JoinForms(*form, memory_form);
  }
  return columns_.size() > 0 && columns_.SortByTime();
}

// The next rows at once; not so many that the first of them are forgotten before they are read.
void EmbeddedScan::PrefetchPast(size_t row) {
  constexpr size_t kRows = 24;
  if (row <= prefetched_) return;
  std::array<const RowHourMemory*, kRows> rows;
  size_t count = 0;
  prefetched_ = std::max(prefetched_, row - 1);
  for (; prefetched_ < ahead_.size() && count < rows.size(); ++prefetched_) {
    rows[count++] = ahead_[prefetched_].row;
  }
  RowHourMemory::Prefetch({rows.data(), count});
}

// A row that stands in one file alone need not be decoded for its statistics.
Result<bool> EmbeddedScan::GiveStatistics(uint32_t base, RowHour* row) {
  const auto [file, end_file] = RowsOf(file_rows_, base, &file_at_);
  if (end_file - file != 1) return false;
  if (const auto [first, end] = RowsOf(memory_rows_, base, &memory_at_); first != end) return false;
  if (!ReadSettledStatistics(file->encoded, &statistics_)) {
    const Status status = ReadRowStatistics(file->encoded).status();
    if (!status.ok()) return Prepend(status, "row " + ToHexUpper(key_));
    return false;
  }
  unloaded_ = file->encoded;
  *row = {};
  row->key = key_;
  row->tsuid = tsuid_;
  row->base = base;
  row->statistics = &statistics_;
  row->all_double = statistics_.all_double;
  const auto form = static_cast<RowForm>(ByteAt(unloaded_, 0) & kRowFormMask);
  row->stored_cells = WantsOne(form, base, render_options_) ? 1 : statistics_.count;
  return true;
}

// What is wrong with a row Next will say.
std::span<const HourStatistics> EmbeddedScan::StatisticsAhead() {
  constexpr size_t kHoursAhead = 64;
  if (!in_files_alone_) return {};
  if (next_base_ < hours_begin_ || next_base_ >= hours_begin_ + hours_.size()) {
    hours_begin_ = next_base_;
    hours_.resize(std::min(kHoursAhead, file_rows_.size() - next_base_));
    size_t count = 0;
    for (; count < hours_.size(); ++count) {
      const FileRow& row = file_rows_[next_base_ + count];
      hours_[count].base = row.base;
      if (int64_t{row.base} * 1000 < oldest_ms_ ||
          !ReadSettledStatistics(row.encoded, &hours_[count].statistics))
        break;
    }
    hours_.resize(count);
  }
  return std::span(hours_).subspan(next_base_ - hours_begin_);
}

Status EmbeddedScan::Load(RowHour* row) {
  if (row->statistics == nullptr) return {};
  columns_.Clear();
  if (Status status = AppendColumns(unloaded_, &columns_); !status.ok())
    return Prepend(status, "row " + ToHexUpper(key_));
  row->statistics = nullptr;
  row->offset_ms = columns_.offset_ms;
  row->value = columns_.value;
  row->all_double = columns_.all_double;
  return {};
}

// Cells are used up where they are given, and irregular rows stand behind all series.
bool EmbeddedScan::GivesSeriesAgain() const { return cells_.empty() && irregular_.empty(); }

void EmbeddedScan::GiveSeriesAgain() {
  next_base_ = 0;
  file_at_ = memory_at_ = 0;
}

uint32_t EmbeddedScan::StepMs() const { return GridStepMs(unloaded_); }

Result<bool> EmbeddedScan::GiveColumns(uint32_t series, uint32_t base, RowHour* row) {
  if (int64_t{base} * 1000 < oldest_ms_) return false;  // some of its points have expired
  if (!cells_.empty() && cells_.count({series, base}) != 0) return false;
  if (spec_.statistics) {
    ASSIGN_OR_RETURN(const bool given, GiveStatistics(base, row));
    if (given) return true;
  }
  RowForm form = RowForm::kNone;
  ASSIGN_OR_RETURN(const bool read, ReadColumns(base, &form));
  if (!read) return false;
  *row = {};
  row->key = key_;
  row->tsuid = tsuid_;
  row->base = base;
  row->offset_ms = columns_.offset_ms;
  row->value = columns_.value;
  row->is_double = columns_.is_double;
  row->all_double = columns_.all_double;
  row->stored_cells =
      WantsOne(form, base, render_options_) ? 1 : static_cast<uint32_t>(columns_.size());
  return true;
}

Status EmbeddedScan::ReadIrregular(StoredRow* row) {
  const IrregularRow& irregular = irregular_[next_irregular_++];
  ASSIGN_OR_RETURN(*row, engine_.Read(*version_, *engine_.points_table(), irregular.key));
  row->base = irregular.base;
  CellsIntoPart(static_cast<uint8_t>(engine_.points_table()->points_family), &row->cells,
                &row->part);
  Normalize(&row->part);
  key_ = irregular.key;
  ASSIGN_OR_RETURN(tsuid_, codec::TsuidOf(engine_.layout(), key_));
  return {};
}

Status EmbeddedScan::ReadRow(uint32_t series, uint32_t base, StoredRow* result) {
  const Table& table = *engine_.points_table();
  *result = StoredRow();
  result->regular = true;
  result->base = base;
  const auto cells = cells_.find({series, base});
  const auto [memory_begin, memory_end] = RowsOf(memory_rows_, base, &memory_at_);
  const auto [file_begin, file_end] = RowsOf(file_rows_, base, &file_at_);
  size_t source = 0;
  bool first = true;
  auto join = [&](StoredRow older) {
    if (first) {
      *result = std::move(older);
    } else {
      *result = MergeStored(table, std::move(*result), std::move(older));
    }
    first = false;
  };
  for (const auto& generation : version_->generations) {
    const RowHourMemory* row = nullptr;
    for (auto it = memory_begin; it != memory_end; ++it) {
      if (it->source == source) row = it->row;
    }
    const bool has_cells = cells != cells_.end() &&
                           std::any_of(cells->second.begin(), cells->second.end(),
                                       [&](const auto& entry) { return entry.first == source; });
    ++source;
    if (row == nullptr && !has_cells) continue;
    StoredRow older;
    older.regular = true;
    older.base = base;
    if (engine_.ReadMemoryPart(*generation, row, key_, has_cells, &older)) join(std::move(older));
  }
  for (const auto& run : version_->RunsOf(table.id, version_->RegionsOf(table.id).IdOf(key_))) {
    StoredRow older;
    older.regular = true;
    older.base = base;
    bool found = false;
    if (cells != cells_.end()) {
      for (auto& [from, row] : cells->second) {
        if (from != source) continue;
        older.cells = std::move(row);
        CellsIntoPart(static_cast<uint8_t>(table.points_family), &older.cells, &older.part);
        found = true;
      }
    }
    for (auto it = file_begin; it != file_end; ++it) {
      if (it->source != source) continue;
      if (!DecodeFileRow(it->encoded, run->generation(), &older.part)) {
        return run->points()->Damaged(0, "a row-hour cannot be read");
      }
      found = true;
    }
    ++source;
    if (found) join(std::move(older));
  }
  return {};
}

void EmbeddedScan::Give(const std::vector<codec::StoredPoint>& points, RowHour* row) {
  Part part;
  for (const auto& point : points) part.points.push_back({point.qualifier, 0, point.bits});
  Give(part, row);
}

void EmbeddedScan::Give(const Part& part, RowHour* row) {
  const size_t n = part.points.size();
  offsets_.resize(n);
  values_.resize(n);
  is_double_.resize(n);
  size_t doubles = 0;
  for (size_t i = 0; i < n; ++i) {
    const PartPoint& point = part.points[i];
    const PointValue value{point.bits, point.qualifier.flags()};
    offsets_[i] = point.offset_ms();
    is_double_[i] = value.is_float();
    doubles += value.is_float();
    values_[i] = value.is_float() ? std::bit_cast<uint64_t>(value.as_double()) : value.bits;
  }
  const bool mixed = doubles > 0 && doubles < n;
  row->offset_ms = offsets_;
  row->value = values_;
  if (mixed) row->is_double = is_double_;
  row->all_double = !mixed && doubles > 0;
}

Result<bool> EmbeddedScan::Next(RowHour* row) {
  for (;;) {
    bool irregular;
    uint32_t series;
    uint32_t base;
    ASSIGN_OR_RETURN(const bool more, NextPlace(&irregular, &series, &base));
    if (!more) {
      if (!misfit_.ok()) return misfit_;
      return false;
    }
    if (!irregular) {
      ASSIGN_OR_RETURN(const bool given, GiveColumns(series, base, row));
      if (given) return true;
    }
    ASSIGN_OR_RETURN(const bool given, GiveStored(irregular, series, base, row));
    if (given) return true;
  }
}

// Any row. False: it has nothing to give.
Result<bool> EmbeddedScan::GiveStored(bool irregular, uint32_t series, uint32_t base,
                                      RowHour* row) {
  StoredRow stored;
  RETURN_IF_ERROR(irregular ? ReadIrregular(&stored) : ReadRow(series, base, &stored));
  Expire(*engine_.points_table(), render_options_.now_ms, &stored);
  *row = {};
  if (IsPlain(stored.part)) {
    Give(stored.part, row);
  } else {
    auto reconciled = Reconcile(stored.part, options_);
    if (!reconciled.ok()) return Prepend(reconciled.status(), "row " + ToHexUpper(key_));
    if (!reconciled->as_stored && listener_) listener_(key_, stored.base);
    std::erase_if(reconciled->points, [&](const codec::StoredPoint& point) {
      return int64_t{stored.base} * 1000 + point.qualifier.offset_ms() < oldest_ms_;
    });
    Give(reconciled->points, row);
  }
  objects_.clear();
  for (RawCell& cell : stored.part.raw) {
    if (!spec_.objects || !IsObject(cell.qualifier)) continue;
    objects_.push_back({Bytes(kFamily), cell.qualifier, cell.value, cell.timestamp_ms});
  }
  if (offsets_.empty() && objects_.empty()) return false;
  row->key = key_;
  row->tsuid = tsuid_;
  row->base = stored.base;
  const bool one = RendersAsOne(stored.part, stored.base, render_options_);
  row->stored_cells =
      static_cast<uint32_t>((one ? 1 : stored.part.points.size()) + stored.part.raw.size());
  row->objects = objects_;
  return true;
}

Result<bool> EmbeddedScan::NextKey(Bytes* key) {
  StoredRow stored;
  for (;;) {
    bool irregular;
    uint32_t series;
    uint32_t base;
    ASSIGN_OR_RETURN(const bool more, NextPlace(&irregular, &series, &base));
    if (!more) return false;
    if (irregular) {
      RETURN_IF_ERROR(ReadIrregular(&stored));
    } else {
      RETURN_IF_ERROR(ReadRow(series, base, &stored));
    }
    if (stored.part.points.empty() && stored.part.raw.empty()) continue;
    *key = key_;
    return true;
  }
}

}  // namespace hg::points
