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

/// The rollup tables of a query. The query reads one table after another until a table has series
/// (opentsdb-queries.md §14.5). If the list of levels is empty, the query reads raw data.
struct RollupPlan {
  /// Levels to read, in order; never contains the default level.
  std::vector<const codec::RollupLevel*> levels;
  bool then_raw = false;  // whether the query reads raw data if no level has series
  /// The stored aggregate that the query reads. To compute averages, the query reads the aggregate
  /// `sum`, and the aggregate `count` in addition.
  codec::RollupAggregate stored;
  bool average = false;
  codec::RollupAggregate count;
  const Aggregator* function = nullptr;  // the aggregation function for stored rollup values
  /// The aggregation function for raw data, if the query reads raw data.
  const Aggregator* raw_function = nullptr;
};

/// Returns the name of the rollup usage that `text` selects (opentsdb-queries.md §14.5). `text`
/// comes from a request. The name is written as OpenTSDB prints it.
std::string_view RollupUsageName(const std::string& text);

/// Decides which rollup tables a sub-query reads. The plan has pointers into `tables`.
/// InvalidArgument: the configuration has no id for the aggregation function. Unsupported: the
/// interval is shorter than a second; OpenTSDB sends HTTP status 500 for such an interval.
Result<RollupPlan> PlanRollup(const codec::RollupTables& tables, const SubQuery& text,
                              const DownsampleSpec* downsample);

/// Returns whether a sub-query requests values that clients aggregated over several series
/// (opentsdb-queries.md §14.6). `raw_value` is the value of the aggregate tag for raw data.
bool AsksForPreAggregates(const SubQuery& text, std::string_view aggregate_key,
                          std::string_view raw_value);

/// Returns the range of row bases that a query reads from a rollup table.
ScanWindow PlanRollupScan(int64_t start_ms, int64_t end_ms, bool rate,
                          const codec::RollupInterval& interval);

}  // namespace hg::query
