#pragma once
// The sources from which a sub-query can read its rows. All sources return the same series, so the
// later steps (rates, groups, merging) do not depend on the source that was chosen.

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

/// The series that a sub-query has read, and the memory that they use.
struct SeriesRead {
  /// Stores statistics in `about`. Both arguments must outlive the object.
  SeriesRead(RequestContext* watch, SubQueryInfo* about) : info(*about), memory(watch) {}

  /// Frees all series, so that they can be read again. Keeps the statistics.
  void Clear();

  SubQueryInfo& info;
  std::deque<SeriesSet> sets;  // one set for each scan; the sets charge the memory of `series`
  std::vector<Series> series;  // the series, sorted by Series::order
  /// The result of ExtremeFold, if the source used ExtremeFold. In this case the elements of
  /// `series` have no points, and this result replaces them. The source charges the memory of this
  /// result.
  std::optional<std::vector<PointColumns>> folded;
  MemoryTally memory;  // charges the memory of this object that is not in the sets
};

/// The kinds of sources that read raw points or values computed from raw points. Each source in
/// this list reads less than the sources after it.
enum class RowSourceKind : unsigned char {
  kAutomaticRollups,  // defined in automatic_rollup_rows.h
  kExtremes,          // defined in folded_rows.h
  kCachedHours,       // defined in cached_rows.h
  kRawPoints,
};

/// A source of the rows of a sub-query. It uses the plan with which it was opened, and must outlive
/// the results of Finish. It is not thread-safe.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Returns an estimate of the number of rows to read, or 0 if there is no estimate.
  [[nodiscard]] virtual uint64_t RowsExpected() const = 0;
  /// Reads the rows into the sets of `out`, which must be empty. Call this function only once. If
  /// Read fails with Conflict and fallback() returns a kind, the caller must read the rows again
  /// from a source of that kind.
  virtual Status Read(SeriesRead* out) = 0;
  /// Moves the complete series from the sets to `out->series`, and sorts them. Call this function
  /// after Read.
  virtual Status Finish(SeriesRead* out);
  /// Returns the kind of source that replaces this source if Read fails with Conflict; nullopt =
  /// there is no replacement.
  [[nodiscard]] virtual std::optional<RowSourceKind> fallback() const { return {}; }
};

/// Opens a source that reads all rows of the plan.
Result<std::unique_ptr<RowSource>> OpenRawPoints(SubQueryPlan* plan);
/// Returns a source that reads all rows of the plan with a scan that is already open.
std::unique_ptr<RowSource> RawPointsOf(SubQueryPlan* plan, std::unique_ptr<PointScan> scan);

// The following functions are used by several sources.

/// Returns Busy if this thread is an event loop (RequestContext::MayWait) and the scan is expected
/// to return so many rows that another thread should read them.
Status MayReadHere(const SubQueryPlan& plan, const PointScan& scan);
/// Returns Busy if this thread is an event loop and `rows`, a number of rows in memory, is so large
/// that another thread should process the rows.
Status MayReadHere(const SubQueryPlan& plan, uint64_t rows);
/// Adds to `out` a set for one part of the scan. The set computes the buckets of `grid`; if `grid`
/// is null, it collects raw points.
SeriesSet& AddSet(SubQueryPlan* plan, const BucketGrid* grid, SeriesRead* out);
/// Reads the whole scan into the set and counts the rows of the scan.
Status ReadInto(const SubQueryPlan& plan, PointScan* scan, SeriesSet* set, SeriesRead* out);
/// Reads the scan. If the scan is large, several threads read parts of it. Before the reading
/// starts, `add_set` is called once for each part; its argument is the number of parts.
Status ReadInParts(const SubQueryPlan& plan, std::unique_ptr<PointScan> scan,
                   const std::function<SeriesSet&(size_t parts)>& add_set, SeriesRead* out);

}  // namespace hg::query
