#include "tsd/rollup/rollup_fill.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "storage/base/invariant.h"
#include "storage/codec/cell_class.h"
#include "storage/codec/row_key.h"
#include "storage/codec/value.h"
#include "storage/for_each_row.h"
#include "storage/model/special_double.h"
#include "storage/model/timestamp.h"

namespace hg::tsd {
namespace {

constexpr size_t kRowsPerWrite = 256;

size_t IntervalsOf(const RollupSpan& span, const codec::RollupLevel& level) {
  return (span.end_s - span.begin_s) / level.interval.interval_s;
}

/// Returns whether the row has data that queries show but rollups do not represent. Rollups omit
/// annotations and NaNs, and sums with infinities depend on the order of addition.
bool HasExtras(const RowHour& row) {
  for (const Cell& cell : row.objects)
    if (!cell.qualifier.empty() && cell.qualifier[0] == codec::kAnnotationPrefix) return true;
  for (size_t i = 0; i < row.value.size(); ++i)
    if (row.double_at(i) && !std::isfinite(std::bit_cast<double>(row.value[i])) &&
        !IsSpecialDouble(row.value[i]))
      return true;
  return false;
}

bool HasUnreadable(const OddHours& odd, uint32_t begin, uint32_t end) {
  return std::any_of(odd.lower_bound(begin), odd.lower_bound(end),
                     [](const auto& hour) { return hour.second.odd == Odd::kUnreadable; });
}

/// Returns whether a row does not begin at a full hour, or has points after its hour. Clients can
/// store such rows as cells.
bool IsStray(const RowHour& row) {
  constexpr uint32_t kRowSpanMs = kRowSpan * 1000;
  if (row.base % kRowSpan != 0) return true;
  if (row.statistics != nullptr) return row.statistics->last_offset_ms >= kRowSpanMs;
  return !row.offset_ms.empty() && row.offset_ms.back() >= kRowSpanMs;
}

/// Marks the hours of the span that a stray row meets.
void MarkStray(const RowHour& row, const RollupSpan& span, OddHours* odd) {
  const uint32_t first = row.base - row.base % kRowSpan;
  constexpr uint64_t kMoreHours = 2;  // an offset has at most 4,194 s
  for (uint64_t hour = first; hour <= first + kMoreHours * kRowSpan; hour += kRowSpan) {
    if (hour < span.begin_s || hour >= span.end_s) continue;
    odd->try_emplace(static_cast<uint32_t>(hour),
                     OddHour{Odd::kExtras, "a row with points of several hours"});
  }
}

/// Adds a row to the intervals that contain its points. The row must begin at a full hour of the
/// span.
void AddRow(const RowHour& row, const RollupSpan& span, uint32_t interval_s,
            std::vector<RollupSum>* sums) {
  INVARIANT(row.base >= span.begin_s && row.base < span.end_s && row.base % kRowSpan == 0);
  const uint32_t from = row.base - span.begin_s;
  if (row.statistics != nullptr) return (*sums)[from / interval_s].Add(*row.statistics);
  size_t begin = 0;
  while (begin < row.points()) {
    const size_t at = (from + row.offset_ms[begin] / 1000) / interval_s;
    const int64_t stop_ms = (static_cast<int64_t>(at + 1) * interval_s - from) * 1000;
    INVARIANT(at < sums->size());
    size_t end = begin + 1;
    while (end < row.points() && row.offset_ms[end] < stop_ms) ++end;
    (*sums)[at].Add(row, begin, end);
    begin = end;
  }
}

/// Returns the changes that put the cells of `wanted` into the row and remove its other cells with
/// ids of `ids` and with indexes in [first, stop).
std::vector<CellChange> Difference(const Row& row, const RollupIds& ids, uint16_t first,
                                   uint32_t stop, std::map<uint16_t, std::vector<Cell>> wanted) {
  std::map<uint16_t, std::vector<const Cell*>> stored;
  for (const Cell& cell : row.cells) {
    const auto qualifier = codec::DecodeRollupQualifier(cell.qualifier);
    if (!qualifier.ok() || !ids.Has(qualifier->aggregator_id) || qualifier->index < first ||
        qualifier->index >= stop)
      continue;
    stored[qualifier->index].push_back(&cell);
  }
  std::vector<CellChange> changes;
  for (const auto& [index, cells] : stored) {
    const auto fresh = wanted.find(index);
    for (const Cell* cell : cells) {
      if (fresh == wanted.end()) {
        changes.push_back(DeleteColumn("t", cell->qualifier));
        continue;
      }
      const auto same = [cell](const Cell& c) { return c.qualifier == cell->qualifier; };
      const auto kept = std::find_if(fresh->second.begin(), fresh->second.end(), same);
      if (kept == fresh->second.end()) {
        changes.push_back(DeleteColumn("t", cell->qualifier));
      } else if (kept->value == cell->value) {
        fresh->second.erase(kept);
      }
    }
  }
  for (auto& [index, cells] : wanted)
    for (Cell& cell : cells)
      changes.push_back(PutCell("t", std::move(cell.qualifier), std::move(cell.value)));
  return changes;
}

}  // namespace

size_t RollupFill::SeriesAtOnce(const RollupSpan& span, const Levels& levels) {
  size_t intervals = 1;
  for (const codec::RollupLevel* level : levels) intervals += IntervalsOf(span, *level);
  return std::clamp(kIntervalsAtOnce / intervals, size_t{1}, kSeriesMax);
}

Status RollupFill::Fill(ByteView metric, const RollupSpan& span, const Levels& levels,
                        OddHours* odd) {
  const size_t at_once = SeriesAtOnce(span, levels);
  std::vector<Bytes> tsuids;
  Status filled;
  const auto fill = [&] {
    filled = FillBatch(tsuids, metric, span, levels, odd);
    if (filled.ok()) filled = pause_();
    tsuids.clear();
  };
  // The TSUIDs of all series of a large metric would take much memory, so each batch is filled
  // during the listing.
  RETURN_IF_ERROR(points_.ListSeries(metric, {}, &context_, [&](ByteView tsuid) {
    tsuids.emplace_back(tsuid);
    if (tsuids.size() == at_once) fill();
    return filled.ok();
  }));
  if (!tsuids.empty()) fill();
  return filled;
}

// If points cannot be read, this function searches for the unreadable hours, first by day, then by
// hour.
Status RollupFill::FillBatch(std::span<const Bytes> tsuids, ByteView metric, const RollupSpan& span,
                             const Levels& levels, OddHours* odd) {
  const Status filled = FillSeries(tsuids, metric, span, levels, odd);
  if (!IsOfData(filled)) return filled;
  if (span.end_s - span.begin_s <= kDayS) return FillAround(tsuids, metric, span, levels, odd);
  for (uint32_t at = span.begin_s; at < span.end_s; at += kDayS) {
    const RollupSpan day = {at, std::min(at + kDayS, span.end_s)};
    RETURN_IF_ERROR(FillBatch(tsuids, metric, day, levels, odd));
    RETURN_IF_ERROR(pause_());
  }
  return {};
}

// Computes the rollups of a day with unreadable hours. Intervals with unreadable hours are not
// written. Queries do not read these intervals while the hours are marked as odd (rollup_state.h).
Status RollupFill::FillAround(std::span<const Bytes> tsuids, ByteView metric, const RollupSpan& day,
                              const Levels& levels, OddHours* odd) {
  for (uint32_t hour = day.begin_s; hour < day.end_s; hour += kRowSpan) {
    const Status read = FillSeries(tsuids, metric, {hour, hour + kRowSpan}, {}, odd);
    if (IsOfData(read)) {
      odd->insert_or_assign(hour, OddHour{Odd::kUnreadable, read.ToString()});
    } else {
      RETURN_IF_ERROR(read);
    }
  }
  for (const codec::RollupLevel* level : levels) {
    const uint32_t step = std::max(kRowSpan, level->interval.interval_s);
    for (uint32_t at = day.begin_s; at < day.end_s; at += step) {
      const Status filled = FillSeries(tsuids, metric, {at, at + step}, {level}, odd);
      if (!IsOfData(filled)) RETURN_IF_ERROR(filled);
      if (filled.ok() || HasUnreadable(*odd, at, at + step)) continue;
      for (uint32_t hour = at; hour < at + step; hour += kRowSpan)
        odd->insert_or_assign(hour, OddHour{Odd::kUnreadable, filled.ToString()});
    }
  }
  return {};
}

Status RollupFill::FillSeries(std::span<const Bytes> tsuids, ByteView metric,
                              const RollupSpan& span, const Levels& levels, OddHours* odd) {
  std::vector<std::vector<std::vector<RollupSum>>> sums(levels.size());  // by level and series
  PointScanSpec spec;
  spec.metric = Bytes(metric);
  spec.matcher.tsuids.assign(tsuids.begin(), tsuids.end());
  // Rows that do not begin at a full hour may begin before the span and have points in it.
  spec.rows = {span.begin_s - std::min(span.begin_s, kRowSpan - 1), span.end_s};
  spec.statistics =
      !levels.empty();  // without rollup levels, the scan only checks whether points are readable
  spec.objects = true;
  spec.object_values = false;  // HasExtras needs only their qualifiers
  spec.watch = &context_;
  for (size_t i = 0; i < levels.size(); ++i) {
    sums[i].resize(tsuids.size());
    spec.statistics &= levels[i]->interval.interval_s >= kRowSpan;
  }
  ASSIGN_OR_RETURN(const auto scan, points_.Scan(spec, reconcile_));
  RowHour row;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, scan->Next(&row));
    if (!more) break;
    const auto known = std::lower_bound(tsuids.begin(), tsuids.end(), row.tsuid);
    if (known == tsuids.end() || *known != row.tsuid) continue;
    if (IsStray(row)) {
      MarkStray(row, span, odd);
      continue;
    }
    if (HasExtras(row))
      odd->try_emplace(row.base, OddHour{Odd::kExtras, "an annotation, a NaN or an infinity"});
    if (row.points() == 0) continue;
    const auto series = static_cast<size_t>(known - tsuids.begin());
    for (size_t i = 0; i < levels.size(); ++i) {
      std::vector<RollupSum>& of = sums[i][series];
      of.resize(IntervalsOf(span, *levels[i]));
      AddRow(row, span, levels[i]->interval.interval_s, &of);
    }
  }
  for (size_t i = 0; i < levels.size(); ++i)
    RETURN_IF_ERROR(WriteLevel(tsuids, span, *levels[i], sums[i]));
  return {};
}

Status RollupFill::WriteLevel(std::span<const Bytes> tsuids, const RollupSpan& span,
                              const codec::RollupLevel& level,
                              const std::vector<std::vector<RollupSum>>& sums) {
  const uint32_t interval_s = level.interval.interval_s;
  CellSelection whole;
  whole.family = "t";
  for (uint32_t begin = span.begin_s; begin < span.end_s;) {
    // The intervals from `begin` to `end` are in one row of the rollup table.
    const uint32_t base = codec::RollupBase(begin, level.interval);
    uint32_t end = begin + interval_s;
    while (end < span.end_s && codec::RollupBase(end, level.interval) == base) end += interval_s;
    const auto first = static_cast<uint16_t>((begin - base) / interval_s);
    const uint32_t stop = (end - base) / interval_s;
    std::vector<Bytes> keys;
    keys.reserve(tsuids.size());
    for (const Bytes& tsuid : tsuids)
      keys.push_back(codec::MakeRowKey(points_.layout(), tsuid, base));
    const std::vector<Result<Row>> rows = store_.GetRows(level.table, keys, whole);
    std::vector<RowMutation> writes;
    for (size_t s = 0; s < tsuids.size(); ++s) {
      RETURN_IF_ERROR(rows[s].status());
      std::map<uint16_t, std::vector<Cell>> wanted;
      for (uint32_t index = first; !sums[s].empty() && index < stop; ++index) {
        const RollupSum& sum = sums[s][(begin - span.begin_s) / interval_s + index - first];
        if (sum.empty()) continue;
        const auto short_index = static_cast<uint16_t>(index);
        sum.AppendCells(short_index, ids_, &wanted[short_index]);
      }
      std::vector<CellChange> changes = Difference(*rows[s], ids_, first, stop, std::move(wanted));
      if (!changes.empty()) writes.push_back({keys[s], std::move(changes)});
    }
    for (size_t at = 0; at < writes.size(); at += kRowsPerWrite) {
      const size_t count = std::min(kRowsPerWrite, writes.size() - at);
      const auto from = writes.begin() + static_cast<ptrdiff_t>(at);
      RETURN_IF_ERROR(store_.Mutate(level.table, {from, from + static_cast<ptrdiff_t>(count)}));
      rows_written_ += count;
    }
    begin = end;
  }
  return {};
}

Status RollupFill::Clear(const codec::RollupLevel& level,
                         const std::function<uint32_t(const Bytes& metric)>& kept_before) {
  ScanSpec spec;
  spec.table = level.table;
  spec.context = &context_;
  std::vector<RowMutation> writes;
  const auto write = [&]() -> Status {
    if (writes.empty()) return {};
    RETURN_IF_ERROR(store_.Mutate(level.table, std::exchange(writes, {})));
    return pause_();
  };
  RETURN_IF_ERROR(ForEachRow(store_, spec, [&](const Row& row) -> Status {
    const Result<codec::RowKey> key = codec::RowKey::Decode(points_.layout(), row.key);
    if (!key.ok()) return {};
    const uint32_t kept_s = kept_before(Bytes(key->metric()));
    std::vector<CellChange> changes;
    for (const Cell& cell : row.cells) {
      const auto qualifier = codec::DecodeRollupQualifier(cell.qualifier);
      if (!qualifier.ok()) continue;
      const uint64_t from_s = key->base() + uint64_t{qualifier->index} * level.interval.interval_s;
      if (from_s < kept_s) continue;
      changes.push_back(DeleteColumn("t", cell.qualifier));
    }
    if (!changes.empty()) writes.push_back({row.key, std::move(changes)});
    return writes.size() >= kRowsPerWrite ? write() : Status();
  }));
  return write();
}

}  // namespace hg::tsd
