#pragma once
// The plan of a sub-query: the series and hours that it reads, and the grid of buckets that it
// computes.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "query/buckets/downsample.h"
#include "query/plan/validate.h"
#include "query/request/answer.h"
#include "query/request/limits.h"
#include "query/request/limits_file.h"
#include "query/request/options.h"
#include "query/rows/automatic_rollup_hours.h"
#include "query/rows/bucket_cache.h"
#include "query/series/name_memo.h"
#include "query/series/series_filter.h"
#include "query/time/scan_window.h"
#include "storage/base/clock.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/base/worker_pool.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "uid/names.h"

namespace hg::query {

/// The objects that all sub-queries of one query share. They must outlive the sub-queries.
struct RunContext {
  const ValidQuery& query;
  const Options& options;
  Points& points;
  uid::Names& names;
  const Clock& clock;
  LimitsFile& limits_file;
  bool trim = true;
  OnFailure on_failure = OnFailure::kFail;
  RequestContext& watch;
  Store& cells;
  WorkerPool& helpers;  // threads that run parts of the work concurrently
  size_t helper_count;
  ResolvedFilters& filters;
  BucketCache* cache;         // nullptr = there is no query cache
  RolledHoursSource* rolled;  // nullptr = this process does not compute rollups
};

/// The plan of one sub-query. Not thread-safe, but the threads of one scan may read the plan at the
/// same time. The functions return the errors of Engine::Run.
struct SubQueryPlan {
  /// Creates the plan of run.query.queries[index]. This sub-query scans the time range [start, end]
  /// in milliseconds. Later steps trim the result to the time range of the query.
  SubQueryPlan(const RunContext& run, size_t index, int64_t start, int64_t end)
      : context(run),
        sub(run.query.queries[index]),
        start_ms(start),
        end_ms(end),
        names(run.names, &run.watch),
        memory(&run.watch),
        grid_memory_(&run.watch) {}

  /// Resolves names, filters and limits, and plans the hours and buckets of raw points. Call this
  /// function once, before any other function.
  Status Resolve();
  /// If the store can list the series of a metric from an index, evaluates the filters that compare
  /// names on these series. The scan then reads only series that the filters accept. Does nothing
  /// if the sub-query is limited or has no filters of this kind. Returns false if the filters
  /// accept no series.
  Result<bool> ChooseSeries();
  /// Sets `window` and `grid` for reading raw points. `downsample` may be null.
  Status PlanRaw(const DownsampleSpec* downsample);
  /// Sets `grid` to the bucket grid of `window`. Returns Busy on an event loop
  /// (RequestContext::MayWait) if a fill policy needs many buckets.
  Status MakeGrid(const DownsampleSpec& downsample);
  /// Frees the bucket grid. No row source may read after this call, because sources use the grid.
  void FreeGrid();

  [[nodiscard]] const KeyLayout& layout() const { return context.points.layout(); }
  /// Returns whether the number of bytes or cells that the sub-query may read is limited. One
  /// thread reads all rows of a limited sub-query, because the limits count rows in the order in
  /// which they are read.
  [[nodiscard]] bool limited() const { return limits.bytes_max > 0 || limits.cells_max > 0; }
  /// Returns whether the scan may return series that the filters reject. For each scanned series,
  /// the filters must then look up names.
  [[nodiscard]] bool filters_by_name() const { return filter->decides() && !chosen; }

  const RunContext& context;
  const ValidSubQuery& sub;
  const int64_t start_ms;
  const int64_t end_ms;
  NameMemo names;
  Limits limits;
  std::optional<SeriesFilter> filter;  // the filters of the sub-query; set by Resolve
  bool chosen = false;                 // whether `spec` selects only series that the filter accepts
  ScanWindow window;
  std::optional<BucketGrid> grid;  // bucket grid; empty = the sub-query is not downsampled
  PointScanSpec spec;
  /// Charges the memory of the filters and of the list of series that they selected.
  MemoryTally memory;

 private:
  /// Charges the memory and the work that Resolve needs for filters. Resolve calls this function
  /// first.
  Status ChargeFilters();

  MemoryTally grid_memory_;  // charges the memory of the bucket starts that a fill policy needs
};

}  // namespace hg::query
