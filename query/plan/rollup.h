#pragma once
// Selects the rollup table that a sub-query reads (opentsdb-queries.md §14.2, §14.3). Free of I/O.

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

/// The rollup tables that a query reads one after the other until one of them has series
/// (opentsdb-queries.md §14.5). An empty plan means that the query reads raw data.
struct RollupPlan {
  std::vector<const codec::RollupLevel*> levels;  // never contains the default level
  bool then_raw = false;                          // whether to read raw data if no level has series
  /// The stored aggregate that the query reads. For averages it is the sum, and the query also
  /// reads the aggregate `count`.
  codec::RollupAggregate stored;
  bool average = false;
  codec::RollupAggregate count;
  const Aggregator* function = nullptr;      // the function for stored values
  const Aggregator* raw_function = nullptr;  // the function for raw data, if raw data is read
};

/// Returns the rollup usage for a text (opentsdb-queries.md §14.5), in the form in which OpenTSDB
/// prints it.
std::string_view RollupUsageName(const std::string& text);

/// Decides which rollup tables a sub-query reads. The plan refers to `tables`. InvalidArgument: the
/// configuration has no id for the function. Unsupported: the interval is below a second, for which
/// OpenTSDB sends 500.
Result<RollupPlan> PlanRollup(const codec::RollupTables& tables, const SubQuery& text,
                              const DownsampleSpec* downsample);

/// Returns whether a sub-query requests values that were aggregated over series
/// (opentsdb-queries.md §14.6). `raw_value` is the value of the aggregate tag for raw data.
bool AsksForPreAggregates(const SubQuery& text, std::string_view aggregate_key,
                          std::string_view raw_value);

/// Returns the range of row bases that a query reads from a rollup table.
ScanWindow PlanRollupScan(int64_t start_ms, int64_t end_ms, bool rate,
                          const codec::RollupInterval& interval);

}  // namespace hg::query
