#include "storage/engine/embedded_scan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "storage/codec/row_key.h"
#include "storage/engine/row_file.h"
#include "storage/engine/series_within.h"

namespace hg::engine {
namespace {

// Cost of a series without rows, and of finding a row in a file, in units of one point.
constexpr uint64_t kSeriesSteps = 8, kFileRowSteps = 8;
// Number of series whose rows in memory are looked up together.
constexpr size_t kSeriesAhead = 16;
constexpr uint64_t kRowsBetweenSteps = 4096;
// Steps are reported to the watch in batches, because all threads of a query share it.
constexpr uint64_t kStepsAtOnce = 512;
// Used to estimate the cost of a scan before its rows are known: the maximum number of hours per
// series, and the costs of a row and of its statistics. The hours are limited, because a time range
// often begins long before the first point.
constexpr uint64_t kExpectedHoursMax = 24, kExpectedRowSteps = 64, kExpectedStatisticsSteps = 16;

template <typename T>
bool ByBase(const T& a, const T& b) {
  return a.base < b.base;
}

uint64_t ExpectedRows(size_t series, const RowRange& rows) {
  return series * std::min((rows.end - rows.begin) / kRowSpan + 1, kExpectedHoursMax);
}

int64_t OldestPointMs(const Engine& engine, int64_t now_ms) {
  const Table& table = *engine.points_table();
  return OldestSeenMs(table.families[static_cast<size_t>(table.points_family)], now_ms);
}

// Returns the range without the hours that have expired completely.
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

// Returns whether the scan should first read the day indexes, to skip series without rows in its
// range. A day index lists the series of all metrics that have points on that day. If the scan
// needs only a small share of all series, searching the files for each of them costs less than
// reading the day indexes.
bool MaySkip(const Engine& engine, size_t series) {
  constexpr size_t kShare = 64;
  const Registry& registry = engine.registry();
  const size_t known = registry.size() - registry.forgotten_count();
  return series > Registry::kFewSeries && series > known / kShare;
}

}  // namespace

RowRange NotExpired(const Engine& engine, const RowRange& rows) {
  return SeenOf(rows, OldestPointMs(engine, engine.render_options().now_ms));
}

EmbeddedScan::EmbeddedScan(const Engine& engine, std::shared_ptr<const Version> version,
                           FoundSeries series, PointScanSpec spec, const ReconcileOptions& options,
                           UnsettledRowListener listener, MayEnd may_end)
    : engine_(engine),
      spec_(std::move(spec)),
      options_(options),
      listener_(std::move(listener)),
      render_options_(engine.render_options()),
      oldest_ms_(OldestPointMs(engine, render_options_.now_ms)),
      registration_(engine.running_scans(), version->memtables.back()->after_sequence,
                    may_end == MayEnd::kYes ? spec_.watch : nullptr),
      version_(std::move(version)),
      series_(std::move(series.numbers)),
      tsuids_(std::move(series.tsuids)),
      memory_(spec_.watch),
      row_memory_(spec_.watch) {
  const uint64_t hours = ExpectedRows(1, spec_.rows);
  bases_.reserve(hours);
  file_rows_.reserve(hours);
}

Result<std::unique_ptr<EmbeddedScan>> EmbeddedScan::Open(const Engine& engine,
                                                         const PointScanSpec& spec,
                                                         const ReconcileOptions& options,
                                                         UnsettledRowListener listener,
                                                         MayEnd may_end) {
  if (spec.metric.size() != static_cast<size_t>(engine.layout().metric_width)) {
    return Status::InvalidArgument("the UID of the metric has " +
                                   std::to_string(spec.metric.size()) + " bytes, not " +
                                   std::to_string(engine.layout().metric_width));
  }
  PointScanSpec seen = spec;
  seen.rows = NotExpired(engine, spec.rows);
  RETURN_IF_ERROR(engine.registry().MayMatch(spec.metric, spec.matcher, spec.watch));
  MemoryTally found_memory(spec.watch);
  ASSIGN_OR_RETURN(FoundSeries series,
                   engine.registry().Candidates(spec.metric, spec.matcher, &found_memory));
  if (MaySkip(engine, series.numbers.size())) {
    const auto version = engine.Pin();
    const RunningScans::Registration registration(engine.running_scans(),
                                                  version->memtables.back()->after_sequence,
                                                  may_end == MayEnd::kYes ? spec.watch : nullptr);
    const Status kept =
        KeepSeriesWithin(engine, *version, spec.metric, seen.rows, spec.watch, &series.numbers);
    // A damaged day index is no reason to refuse the query: the rows can be found without it.
    if (!kept.ok() && kept.code() != StatusCode::kCorruption) return kept;
  }
  RETURN_IF_ERROR(engine.registry().KeepMatches(spec.metric, spec.matcher, &found_memory, &series));
  // If the query must wait for its turn, it waits in this call. Afterwards, the scan keeps its
  // memtables in memory even after the store has flushed them.
  if (spec.watch != nullptr) {
    const uint64_t each = spec.statistics ? kExpectedStatisticsSteps : kExpectedRowSteps;
    RETURN_IF_ERROR(spec.watch->Step(ExpectedRows(series.numbers.size(), seen.rows) * each));
  }
  std::unique_ptr<EmbeddedScan> scan(new EmbeddedScan(engine, engine.Pin(), std::move(series),
                                                      std::move(seen), options, std::move(listener),
                                                      may_end));
  found_memory.Remove(found_memory.held());
  RETURN_IF_ERROR(
      scan->memory_.Add(static_cast<int64_t>(scan->series_.capacity() * sizeof(uint32_t))));
  RETURN_IF_ERROR(scan->LoadCells());
  // The matching series are known now. Each part of the scan would get a copy of a long matcher.
  scan->spec_.matcher = {};
  return scan;
}

uint64_t EmbeddedScan::RowsExpected() const { return ExpectedRows(series_.size(), spec_.rows); }

// Returns false if the first series has rows in memory, because these have no stored statistics.
// Usually all series have rows in the same hours.
bool EmbeddedScan::ExpectsStatistics() const {
  constexpr int kRowsLookedAt = 8;
  if (!spec_.statistics || series_.empty()) return false;
  for (const auto& memtable : version_->memtables) {
    const RowHourMemory* row = memtable->rows.Newest(series_.front());
    for (int i = 0; row != nullptr && row->base() >= spec_.rows.end; row = row->older()) {
      if (++i == kRowsLookedAt) return false;
    }
    if (row != nullptr && row->base() >= spec_.rows.begin) return false;
  }
  return true;
}

// The parts read the cells of this scan, whose memory stays charged to this scan.
std::vector<std::unique_ptr<PointScan>> EmbeddedScan::Cut(size_t parts) {
  std::vector<std::unique_ptr<PointScan>> cut;
  // One scan must return all irregular rows, because they may belong to series of several parts.
  if (!irregular_.empty()) return cut;
  for (size_t i = 0; i < parts; ++i) {
    const auto place = [&](size_t part) {
      return series_.begin() + static_cast<ptrdiff_t>(series_.size() * part / parts);
    };
    FoundSeries series{{place(i), place(i + 1)}, tsuids_};
    std::unique_ptr<EmbeddedScan> scan(new EmbeddedScan(engine_, version_, std::move(series), spec_,
                                                        options_, listener_, MayEnd::kYes));
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

// Finds the next row that may match.
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
  tsuid_ = tsuids_->Tsuid(*series);
  key_.clear();
  codec::AppendRowKey(layout, tsuid_, *base, &key_);
  return true;
}

// Collects the rows of the next series from the memtables. The rows of a series in a memtable are a
// linked list, newest first. The lists of several series are followed in parallel.
Status EmbeddedScan::LookAhead() {
  ahead_series_ = next_series_ - 1;
  ahead_.clear();
  ahead_ends_.clear();
  prefetched_ = 0;
  const size_t count = std::min(kSeriesAhead, series_.size() - ahead_series_);
  std::array<std::vector<MemoryRow>, kSeriesAhead> found;
  uint64_t walked = 0;  // number of visited rows, including those outside the range
  for (size_t source = 0; source < version_->memtables.size(); ++source) {
    std::array<const RowHourMemory*, kSeriesAhead> at;
    for (size_t i = 0; i < count; ++i) {
      at[i] = version_->memtables[source]->rows.Newest(series_[ahead_series_ + i]);
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

// Reports the work and memory of decoding a long row, before it is decoded. The reader of the scan
// reports the work for its points, but a row in memory may have several entries for each point, and
// a point may take only a bit in a file.
Status EmbeddedScan::ExpectEntries(uint64_t entries, size_t bytes_each) {
  constexpr uint64_t kFewEntries = 8192;  // maximum number of entries of a usual row
  if (entries <= kFewEntries) return {};
  const auto bytes = static_cast<int64_t>(entries * bytes_each);
  if (bytes > row_bytes_) {
    RETURN_IF_ERROR(memory_.Add(bytes - row_bytes_));
    row_bytes_ = bytes;
  }
  return memory_.Step(entries);
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
  RETURN_IF_ERROR(ReadFileRows(tsuids_->Tsuid(series)));
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
  // If there is only one region, the slices are the same for all series.
  if (regions.count() > 1 || slices_.empty()) {
    region::SlicesOf(regions, RowKeyPrefix(layout, tsuid), spec_.rows, &slices_);
    for (const region::SeriesSlice& slice : slices_) {
      if (regions_read_.insert(slice.region).second) engine_.region_loads().AddRead(slice.region);
    }
  }
  for (const region::SeriesSlice& slice : slices_) {
    size_t source = version_->memtables.size();
    for (const auto& part : version_->PartsOf(table.id, slice.region)) {
      RETURN_IF_ERROR(ReadPartRows(*part, source++, tsuid, slice.bases));
    }
  }
  if (!std::is_sorted(file_rows_.begin(), file_rows_.end(), ByBase<FileRow>)) {
    std::stable_sort(file_rows_.begin(), file_rows_.end(), ByBase<FileRow>);
  }
  return {};
}

Status EmbeddedScan::ReadPartRows(const Part& part, size_t source, ByteView tsuid,
                                  const RowRange& bases) {
  if (part.points() == nullptr) return {};
  first_key_ = RowFileKey(engine_.layout(), tsuid, bases.begin);
  const ByteView series = ByteView(first_key_).substr(0, first_key_.size() - 4);
  const auto base_of = [&](ByteView key) { return ReadBig32(key.data() + series.size()); };
  auto [at, first_time] = cursors_.try_emplace(&part);
  std::optional<lsm::BlockFileScan>& cursor = at->second.scan;
  bool there = false;  // the cursor is at an entry that was not used yet
  if (first_time) {
    if (part.points()->MayHoldTime(TimesOf(spec_.rows)))
      cursor.emplace(part.points(), first_key_, "", lsm::CacheUse::kKeep, spec_.watch);
  } else if (cursor) {
    // Usually this series follows the previous one in the file. The cursor is then already at its
    // first entry, because that entry ended the previous series.
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
    if (stored.row_part.points.empty() && stored.row_part.raw.empty()) continue;
    *key = key_;
    return true;
  }
}

}  // namespace hg::engine
