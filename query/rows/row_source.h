#pragma once
// The interface of the sources from which a sub-query can read its rows. All sources return the
// same series, so the later steps (rates, groups, merging) do not depend on the source that was
// chosen.

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
  /// The statistics of the read are stored in `about`, and memory is charged to `watch`. Both
  /// arguments must outlive the object.
  SeriesRead(RequestContext* watch, SubQueryInfo* about) : info(*about), memory(watch) {}

  /// Frees all series, so that the caller can read them again. The statistics in `info` are kept.
  void Clear();

  SubQueryInfo& info;
  /// One set for each part of the scan; the sets charge the memory of `series`.
  std::deque<SeriesSet> sets;
  std::vector<Series> series;  // the series, sorted by Series::order
  /// The result of ExtremeFold, if the source used ExtremeFold. The series whose buckets are in
  /// this result have no points in `series`. The source charges the memory of this result.
  std::optional<std::vector<PointColumns>> folded;
  MemoryTally memory;  // charges the memory of this object, except the memory that `sets` charge
};

/// The kinds of sources that read raw points or values computed from raw points. A source in this
/// list usually reads less than the sources after it.
enum class RowSourceKind : unsigned char {
  kAutomaticRollups,  // defined in automatic_rollup_rows.h
  kExtremes,          // defined in folded_rows.h
  kCachedHours,       // defined in cached_rows.h
  kRawPoints,
};

/// A source from which the rows of one sub-query are read. It uses the SubQueryPlan with which it
/// was opened. It must outlive the results of Finish. Not thread-safe.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Returns an estimate of the number of rows to read, or 0 if there is no estimate.
  [[nodiscard]] virtual uint64_t RowsExpected() const = 0;
  /// Reads the rows into the sets of `out`, which must be empty. Call this function only once. If
  /// Read fails with Conflict and fallback() returns a kind, the caller must read the rows again
  /// from a source of that kind.
  virtual Status Read(SeriesRead* out) = 0;
  /// Moves the series from `out->sets` to `out->series`, and sorts them. Call this function after
  /// Read has read all rows.
  virtual Status Finish(SeriesRead* out);
  /// Returns the kind of source that the caller must use instead of this source if Read fails with
  /// Conflict. nullopt: Conflict is an error like any other.
  [[nodiscard]] virtual std::optional<RowSourceKind> fallback() const { return {}; }
};

/// Opens a source that reads all rows of the plan.
Result<std::unique_ptr<RowSource>> OpenRawPoints(SubQueryPlan* plan);
/// Returns a source that reads all rows of the plan with a scan that is already open.
std::unique_ptr<RowSource> RawPointsOf(SubQueryPlan* plan, std::unique_ptr<PointScan> scan);

// Several kinds of sources use the following functions.

/// Returns Busy if this thread is an event loop (RequestContext::MayWait) and `scan` is expected to
/// return so many rows that a pool thread should read them.
Status MayReadHere(const SubQueryPlan& plan, const PointScan& scan);
/// Returns Busy if this thread is an event loop and `rows`, a number of rows in memory, is so large
/// that a pool thread should process these rows.
Status MayReadHere(const SubQueryPlan& plan, uint64_t rows);
/// Adds a SeriesSet for one part of the scan to `out->sets`. The set computes the buckets of
/// `grid`; if `grid` is null, it collects raw points.
SeriesSet& AddSet(SubQueryPlan* plan, const BucketGrid* grid, SeriesRead* out);
/// Reads all rows of `scan` into `set`, and adds their numbers to the statistics of `out`.
Status ReadInto(const SubQueryPlan& plan, PointScan* scan, SeriesSet* set, SeriesRead* out);
/// Reads all rows of `scan`. If the scan is large, several threads read parts of it. Before the
/// reading starts, `add_set` is called once for each part and returns the set of this part. The
/// argument of `add_set` is the number of parts. Statistics are added to those of `out`.
Status ReadInParts(const SubQueryPlan& plan, std::unique_ptr<PointScan> scan,
                   const std::function<SeriesSet&(size_t parts)>& add_set, SeriesRead* out);

}  // namespace hg::query
