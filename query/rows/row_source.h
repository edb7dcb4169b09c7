#pragma once
// The ways to read the rows of a sub-query. All of them return the same series, so the later steps
// (rates, groups, merging) do not depend on the way that was chosen.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "query/request/answer.h"
#include "query/rows/series_set.h"
#include "query/rows/sub_query_plan.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"

namespace hg::query {

/// The series of a sub-query, and the memory that they take.
struct SeriesRead {
  /// Statistics are stored in `about`. Both arguments must outlive the object.
  SeriesRead(RequestContext* watch, SubQueryInfo* about) : info(*about), memory(watch) {}

  /// Frees all series, so that they can be read again. Keeps the statistics.
  void Clear();

  SubQueryInfo& info;
  std::deque<SeriesSet> sets;  // one for each scan; they charge the memory of `series`
  std::vector<Series> series;  // sorted by Series::order
  /// The result of ExtremeFold, if the source used one. It replaces the points of the series, which
  /// `series` then does not have. The source charges the memory of this result.
  std::optional<std::vector<PointColumns>> folded;
  MemoryTally memory;  // charges memory of this object that is not in the sets
};

/// The sources of raw points, and of values computed from raw points. A source in this list reads
/// less than the sources after it.
enum class RowSourceKind : unsigned char {
  kAutomaticRollups,  // automatic_rollup_rows.h
  kExtremes,          // folded_rows.h
  kCachedHours,       // cached_rows.h
  kRawPoints,
};

/// Not thread-safe. Uses the plan with which it was opened. Must outlive the results of Finish.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Returns an estimate of the number of rows to read, or 0 if there is none.
  [[nodiscard]] virtual uint64_t RowsExpected() const = 0;
  /// Reads the rows into the sets of `out`, which must be clear. Call this function once. If Read
  /// returns Conflict and fallback() is set, the caller must read the rows again from that source.
  virtual Status Read(SeriesRead* out) = 0;
  /// Moves the series from the sets to `out->series`, complete and sorted. Call this function after
  /// Read.
  virtual Status Finish(SeriesRead* out);
  /// Returns the source that replaces this one if Read returns Conflict; nullopt = none.
  [[nodiscard]] virtual std::optional<RowSourceKind> fallback() const { return {}; }
};

/// Reads all rows of the plan.
Result<std::unique_ptr<RowSource>> OpenRawPoints(SubQueryPlan* plan);
/// Like OpenRawPoints, for a scan that is already open for the rows of the plan.
std::unique_ptr<RowSource> RawPointsOf(SubQueryPlan* plan, std::unique_ptr<PointScan> scan);

// Functions that several sources use.

/// Returns Busy on an event loop if the scan expects so many rows that another thread should read
/// them (RequestContext::MayWait).
Status MayReadHere(const SubQueryPlan& plan, const PointScan& scan);
/// Like MayReadHere for a scan, but for `rows` rows that are in memory.
Status MayReadHere(const SubQueryPlan& plan, uint64_t rows);
/// Adds to `out` a set for a part of the scan, with the buckets of `grid` (null = raw points).
SeriesSet& AddSet(SubQueryPlan* plan, const BucketGrid* grid, SeriesRead* out);
/// Reads the whole scan into the set and counts its rows.
Status ReadInto(const SubQueryPlan& plan, PointScan* scan, SeriesSet* set, SeriesRead* out);
/// Reads the scan. Several threads read parts of a large scan. Before reading starts, `add_set` is
/// called once for each part, with the number of parts.
Status ReadInParts(const SubQueryPlan& plan, std::unique_ptr<PointScan> scan,
                   const std::function<SeriesSet&(size_t parts)>& add_set, SeriesRead* out);

}  // namespace hg::query
