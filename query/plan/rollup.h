#pragma once
// Selects the rollup table that a sub-query reads (opentsdb-queries.md §14.2, §14.3). Does no I/O.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/buckets/downsample.h"
#include "query/request/request.h"
#include "query/time/scan_window.h"
#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"

namespace hg::query {

/// The rollup tables that a sub-query reads. The sub-query reads one table after another until a
/// table has series (opentsdb-queries.md §14.5). If `levels` is empty, the sub-query reads raw
/// data.
struct RollupPlan {
  /// The rollup levels to read, from the longest interval to the shortest; never contains the
  /// default level.
  std::vector<const codec::RollupLevel*> levels;
  bool then_raw = false;  // whether the sub-query reads raw data if no level has series
  /// The aggregate that the sub-query reads from the rollup tables. For averages (`average` is
  /// true), the sub-query reads the aggregates `sum` and `count`: `stored` is `sum`, and the member
  /// `count` is `count`.
  codec::RollupAggregate stored;
  bool average = false;
  codec::RollupAggregate count;
  const Aggregator* function = nullptr;  // combines the values of rollup tables
  /// The aggregation function that the sub-query uses if it reads raw data.
  const Aggregator* raw_function = nullptr;
};

/// Converts the field rollupUsage of a request to the name that OpenTSDB prints
/// (opentsdb-queries.md §14.5). The function ignores case. For an unknown text, returns
/// "ROLLUP_NOFALLBACK".
std::string_view RollupUsageName(const std::string& text);

/// Decides which rollup tables a sub-query reads. The returned plan contains pointers into
/// `tables`. `downsample` may be nullptr. InvalidArgument: the configuration has no id for the
/// aggregation function. Unsupported: the interval is shorter than a second; OpenTSDB sends HTTP
/// status 500 for this error.
Result<RollupPlan> PlanRollup(const codec::RollupTables& tables, const SubQuery& text,
                              const DownsampleSpec* downsample);

/// Returns whether a sub-query requests values that clients aggregated over several series
/// (opentsdb-queries.md §14.6). `raw_value` is the value of the aggregate tag for raw data.
bool AsksForPreAggregates(const SubQuery& text, std::string_view aggregate_key,
                          std::string_view raw_value);

/// Returns the range of row base times that a query with the time range [start_ms, end_ms] reads
/// from a rollup table. If `rate` is true, the range also includes the row before it.
ScanWindow PlanRollupScan(int64_t start_ms, int64_t end_ms, bool rate,
                          const codec::RollupInterval& interval);

}  // namespace hg::query
