#include "storage/points/reconcile.h"

#include <algorithm>
#include <queue>

#include "storage/codec/append_cell.h"
#include "storage/codec/cell_class.h"
#include "storage/codec/compacted.h"
#include "storage/codec/value.h"
#include "storage/points/render.h"

namespace hg::points {
namespace {

using codec::StoredPoint;

// A column that takes part in the merge.
struct Source {
  const Cell* cell = nullptr;
  std::vector<StoredPoint> points;  // in the order of the cell
  bool append = false;
  bool repaired = false;  // whether reading the cell repaired it (opentsdb-schema.md §7.4)
  bool disorder = false;  // whether the cell is an append cell that needs a repair
};

struct Sources {
  std::vector<Source> all;
  bool append = false;

  // Returns whether the only source is a cell with a single point. Such a cell is never rewritten,
  // whatever the options say about compacted cells.
  [[nodiscard]] bool lone_point() const {
    return all.size() == 1 && !append && !all[0].repaired && all[0].points.size() <= 1 &&
           codec::ClassifyQualifier(all[0].cell->qualifier) == codec::CellClass::kPoint;
  }
};

Status NoValue(const Cell& cell) {
  return Status::Corruption("no value (qualifier " + ToHexUpper(cell.qualifier) + ")");
}

Result<Sources> ReadSources(std::span<const Cell> cells) {
  Sources sources;
  for (const Cell& cell : cells) {
    Source source;
    source.cell = &cell;
    switch (codec::ClassifyQualifier(cell.qualifier)) {
      case codec::CellClass::kAppend: {
        if (cell.value.empty()) return NoValue(cell);
        ASSIGN_OR_RETURN(auto parsed, codec::ParseAppendCell(cell.value));
        source.points = std::move(parsed.points);
        source.disorder = parsed.needs_repair;
        source.append = sources.append = true;
        break;
      }
      case codec::CellClass::kPoint:
      case codec::CellClass::kCompacted:
      case codec::CellClass::kMalformed:
        RETURN_IF_ERROR(
            codec::ReadPointCell(cell.qualifier, cell.value, &source.points, &source.repaired));
        break;
      default:
        continue;
    }
    sources.all.push_back(std::move(source));
  }
  return sources;
}

bool NumericallyLess(const PointValue& a, const PointValue& b) {
  if (!a.is_float() && !b.is_float()) return a.as_int() < b.as_int();
  return a.as_double() < b.as_double();
}

// Takes points in merge order (for equal times, newest first) and keeps those that the rules
// select.
class Survivors {
 public:
  explicit Survivors(const ReconcileOptions& options) : options_(options) {
    if (options.counters != nullptr)
      options.counters->merges.fetch_add(1, std::memory_order_relaxed);
  }

  Status Add(const StoredPoint& point) {
    if (points_.empty() || points_.back().offset_ms() != point.offset_ms()) {
      points_.push_back(point);
      return {};
    }
    StoredPoint& kept = points_.back();
    const bool same = codec::SameValueBytes(kept.value(), point.value());
    if (MergeCounters* counters = options_.counters; counters != nullptr)
      (same ? counters->identical : counters->variant).fetch_add(1, std::memory_order_relaxed);
    if (options_.use_otsdb_timestamp) {
      const bool better = options_.use_max_value ? NumericallyLess(kept.value(), point.value())
                                                 : NumericallyLess(point.value(), kept.value());
      if (better) kept = point;
      return {};
    }
    if (options_.fix_duplicates || same) return {};
    return Status::InvalidArgument(
        "two values " + std::to_string(point.offset_ms()) + " ms into the row: " + Show(kept) +
        " and, written at the same time or earlier, " + Show(point) +
        "; set tsd.storage.fix_duplicates = true to use the value that was "
        "written later, or remove one with 'tsdb fsck --fix "
        "--resolve-duplicates'");
  }

  std::vector<StoredPoint>& points() { return points_; }

 private:
  static std::string Show(const StoredPoint& point) {
    return ToHexUpper(codec::EncodeValue(point.value())) + " (qualifier " +
           ToHexUpper(point.qualifier.Encode()) + ")";
  }

  const ReconcileOptions& options_;
  std::vector<StoredPoint> points_;
};

// A cell without a value is ignored if there are other cells. Alone it is an error for the row, as
// in OpenTSDB.
Result<Sources> ReadRowSources(std::span<const Cell> cells) {
  ASSIGN_OR_RETURN(Sources sources, ReadSources(cells));
  if (sources.all.size() == 1 && sources.all[0].points.empty()) {
    return NoValue(*sources.all[0].cell);
  }
  return sources;
}

// Merges the points of all sources: in ascending order of time, for equal times by cell time from
// new to old, then by qualifier. A column that is not sorted yields its points in its own order, as
// in OpenTSDB.
Result<std::vector<StoredPoint>> MergeSources(const Sources& sources,
                                              const ReconcileOptions& options) {
  struct Position {
    uint32_t offset_ms;
    size_t source;
    size_t index;
  };
  const auto& all = sources.all;
  auto later = [&all](const Position& a, const Position& b) {
    if (a.offset_ms != b.offset_ms) return a.offset_ms > b.offset_ms;
    const int64_t a_time = all[a.source].cell->timestamp_ms;
    const int64_t b_time = all[b.source].cell->timestamp_ms;
    if (a_time != b_time) return a_time < b_time;
    return a.source > b.source;
  };
  std::priority_queue<Position, std::vector<Position>, decltype(later)> heap(later);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].points.empty()) heap.push({all[i].points[0].offset_ms(), i, 0});
  }
  Survivors survivors(options);
  while (!heap.empty()) {
    Position at = heap.top();
    heap.pop();
    RETURN_IF_ERROR(survivors.Add(all[at.source].points[at.index]));
    if (++at.index < all[at.source].points.size()) {
      at.offset_ms = all[at.source].points[at.index].offset_ms();
      heap.push(at);
    }
  }
  return std::move(survivors.points());
}

std::vector<CellChange> RowCompactionChanges(const Sources& sources,
                                             const std::vector<StoredPoint>& merged,
                                             const ReconcileOptions& options) {
  std::vector<CellChange> changes;
  if (sources.append || sources.lone_point() || merged.empty()) return changes;
  CellChange put = PutCell(Bytes(kFamily), {}, {});
  codec::EncodePointCell(merged, &put.qualifier, &put.value);
  bool stored = false;
  int64_t newest = 0;
  for (const Source& source : sources.all) {
    newest = std::max(newest, source.cell->timestamp_ms);
    stored |= source.cell->qualifier == put.qualifier && source.cell->value == put.value;
  }
  if (options.use_otsdb_timestamp) put.timestamp_ms = newest;
  if (!stored) changes.push_back(put);
  for (const Source& source : sources.all) {
    if (source.cell->qualifier == put.qualifier) continue;
    changes.push_back(DeleteColumn(Bytes(kFamily), source.cell->qualifier));
  }
  return changes;
}

std::vector<CellChange> AppendRepairs(const Sources& sources, const ReconcileOptions& options) {
  std::vector<CellChange> changes;
  for (const Source& source : sources.all) {
    if (!options.repair_appends || !source.disorder) continue;
    CellChange put = PutCell(Bytes(kFamily), source.cell->qualifier, {});
    for (const StoredPoint& point : source.points) codec::AppendPair(&put.value, point);
    changes.push_back(std::move(put));
  }
  return changes;
}

bool Ascends(const std::vector<StoredPoint>& points) {
  return std::adjacent_find(points.begin(), points.end(), [](const auto& a, const auto& b) {
           return a.offset_ms() >= b.offset_ms();
         }) == points.end();
}

// Sorts points by time. Needed only for a compacted cell that is not sorted. For equal times the
// first point is kept.
void SortPoints(std::vector<StoredPoint>* points) {
  std::stable_sort(points->begin(), points->end(),
                   [](const auto& a, const auto& b) { return a.offset_ms() < b.offset_ms(); });
  auto same = [](const auto& a, const auto& b) { return a.offset_ms() == b.offset_ms(); };
  points->erase(std::unique(points->begin(), points->end(), same), points->end());
}

// A point of a RowPart or of one of its raw cells.
struct Candidate {
  StoredPoint point;
  uint64_t sequence = 0;
  const RawCell* raw = nullptr;  // nullptr: a point of the RowPart
  size_t index = 0;              // index in the points of the RowPart
};

bool Newer(const Candidate& a, const Candidate& b) {
  if (a.raw == nullptr && b.raw == nullptr) return a.index > b.index;
  if (a.sequence != b.sequence) return a.sequence > b.sequence;
  if (a.raw != nullptr && b.raw != nullptr) return a.raw < b.raw;  // they are sorted by qualifier
  return a.raw != nullptr ? a.raw->qualifier < b.point.qualifier.Encode()
                          : a.point.qualifier.Encode() < b.raw->qualifier;
}

// Sorts the candidates of one instant from new to old. Most instants have one or two candidates.
// The insertion sort allocates no memory, and is used for few candidates only.
void SortByAge(std::span<Candidate> same_time) {
  constexpr size_t kFew = 16;
  if (same_time.size() > kFew) {
    std::stable_sort(same_time.begin(), same_time.end(), Newer);
    return;
  }
  for (size_t i = 1; i < same_time.size(); ++i) {
    for (size_t j = i; j > 0 && Newer(same_time[j], same_time[j - 1]); --j) {
      std::swap(same_time[j], same_time[j - 1]);
    }
  }
}

}  // namespace

Result<ReconciledRow> Reconcile(std::span<const Cell> cells, const ReconcileOptions& options) {
  ASSIGN_OR_RETURN(Sources sources, ReadRowSources(cells));
  ReconciledRow row;
  if (sources.all.size() == 1 && Ascends(sources.all[0].points)) {
    row.points = sources.all[0].points;
  } else {
    ASSIGN_OR_RETURN(row.points, MergeSources(sources, options));
  }
  row.as_stored = RowCompactionChanges(sources, row.points, options).empty() &&
                  AppendRepairs(sources, options).empty();
  if (!Ascends(row.points)) SortPoints(&row.points);
  return row;
}

size_t CountRawPoints(const RowPart& row) {
  size_t count = 0;
  for (const RawCell& raw : row.raw) {
    if (!TouchesPoints(raw.qualifier)) continue;
    if (codec::ClassifyQualifier(raw.qualifier) == codec::CellClass::kAppend) {
      ByteView pairs = raw.value;  // of qualifiers and values
      for (codec::Qualifier q; codec::TakeQualifier(&pairs, &q); ++count)
        pairs.remove_prefix(std::min(pairs.size(), static_cast<size_t>(q.value_width())));
      continue;
    }
    ByteView rest = raw.qualifier;
    for (codec::Qualifier q; codec::TakeQualifier(&rest, &q);) ++count;
  }
  return count;
}

Result<ReconciledRow> Reconcile(const RowPart& part, const ReconcileOptions& options) {
  std::vector<Candidate> candidates;
  candidates.reserve(part.points.size() + CountRawPoints(part));
  for (size_t i = 0; i < part.points.size(); ++i) {
    const PartPoint& point = part.points[i];
    candidates.push_back({{point.qualifier, point.bits}, point.sequence, nullptr, i});
  }
  bool only_points = true;
  bool append = false;
  bool disorder = false;
  for (const RawCell& raw : part.raw) {
    if (!TouchesPoints(raw.qualifier)) continue;
    only_points = false;
    const Cell cell{{}, raw.qualifier, raw.value, raw.timestamp_ms};
    ASSIGN_OR_RETURN(Sources sources, ReadSources({&cell, 1}));
    append |= sources.append;
    for (const Source& source : sources.all) {
      disorder |= source.disorder;
      for (const StoredPoint& point : source.points) {
        candidates.push_back({point, raw.sequence, &raw, 0});
      }
    }
  }
  if (candidates.empty() && !only_points) {
    return Status::Corruption("no value in any cell of points");
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.point.offset_ms() < b.point.offset_ms();
  });

  Survivors survivors(options);
  bool dropped = false;
  for (size_t begin = 0, end = 0; begin < candidates.size(); begin = end) {
    while (end < candidates.size() &&
           candidates[end].point.offset_ms() == candidates[begin].point.offset_ms()) {
      ++end;
    }
    dropped |= end - begin > 1;
    SortByAge(std::span(candidates).subspan(begin, end - begin));
    for (size_t i = begin; i < end; ++i) RETURN_IF_ERROR(survivors.Add(candidates[i].point));
  }
  ReconciledRow row;
  row.points = std::move(survivors.points());
  row.as_stored = append ? !(disorder && options.repair_appends) : only_points && !dropped;
  return row;
}

Result<std::vector<CellChange>> PlanRowCompaction(std::span<const Cell> cells,
                                                  const ReconcileOptions& options) {
  ASSIGN_OR_RETURN(Sources sources, ReadRowSources(cells));
  ASSIGN_OR_RETURN(auto merged, MergeSources(sources, options));
  return RowCompactionChanges(sources, merged, options);
}

Result<std::vector<CellChange>> PlanAppendRepair(std::span<const Cell> cells,
                                                 const ReconcileOptions& options) {
  ASSIGN_OR_RETURN(Sources sources, ReadRowSources(cells));
  return AppendRepairs(sources, options);
}

}  // namespace hg::points
