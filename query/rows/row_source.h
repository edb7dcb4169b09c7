#pragma once
// The ways to read the rows of a sub-query. All of them return the same series, so later steps
// (rates, groups, merging) do not depend on the chosen way.

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
  /// `info` receives statistics. Both arguments must outlive the object.
  SeriesRead(RequestContext* watch, SubQueryInfo* about) : info(*about), memory(watch) {}

  /// Frees all series, so that they can be read again. The statistics stay.
  void Clear();

  SubQueryInfo& info;
  std::deque<SeriesSet> sets;  // one per scan; they charge the memory of `series`
  std::vector<Series> series;  // sorted by Series::order
  /// The result of ExtremeFold, if the source used one. It replaces the points of the series, which
  /// `series` then lacks. The source charges the memory of this result.
  std::optional<std::vector<PointColumns>> folded;
  MemoryTally memory;  // charges the memory of this object that the sets do not charge
};

/// The sources of raw points and of values computed from them. A source in this list reads less
/// than those after it.
enum class RowSourceKind : unsigned char {
  kAutomaticRollups,  // automatic_rollup_rows.h
  kExtremes,          // folded_rows.h
  kCachedHours,       // cached_rows.h
  kRawPoints,
};

/// Not thread-safe. Uses the plan that it was opened with. Must outlive what Finish returned.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Returns an estimate of the number of rows to read, or 0 if there is none.
  [[nodiscard]] virtual uint64_t RowsExpected() const = 0;
  /// Reads the rows into the sets of `out`, which must be clear. Call this function once. If
  /// `fallback` is set and this function returns Conflict, the rows must be read again from the
  /// fallback.
  virtual Status Read(SeriesRead* out) = 0;
  /// Moves the series from the sets to `out->series`, complete and sorted. Call this function after
  /// Read.
  virtual Status Finish(SeriesRead* out);
  /// Returns the source to use if this one cannot read the stored rows.
  [[nodiscard]] virtual std::optional<RowSourceKind> fallback() const { return {}; }
};

/// Reads all rows of the plan.
Result<std::unique_ptr<RowSource>> OpenRawPoints(SubQueryPlan* plan);
/// Like OpenRawPoints, with a scan that was already opened for the rows of the plan.
std::unique_ptr<RowSource> RawPointsOf(SubQueryPlan* plan, std::unique_ptr<PointScan> scan);

// Functions that the sources share.

/// Refuses to work on an event loop if the scan expects so many rows that another thread should
/// read them (RequestContext::MayWait).
Status MayReadHere(const SubQueryPlan& plan, const PointScan& scan);
/// Like the other overload, for a number of rows that are in memory.
Status MayReadHere(const SubQueryPlan& plan, uint64_t rows);
/// Adds a set with the buckets of `grid` (null = raw points) for a part of the scan.
SeriesSet& AddSet(SubQueryPlan* plan, const BucketGrid* grid, SeriesRead* out);
/// Reads the whole scan into the set and counts its rows.
Status ReadInto(const SubQueryPlan& plan, PointScan* scan, SeriesSet* set, SeriesRead* out);
/// Reads the scan. A large scan is read in parts on several threads. Before the reading, `add_set`
/// is called once for each part, with the number of parts.
Status ReadInParts(const SubQueryPlan& plan, std::unique_ptr<PointScan> scan,
                   const std::function<SeriesSet&(size_t parts)>& add_set, SeriesRead* out);

}  // namespace hg::query
