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

/// The tables to read. They are read one after the other until one of them has series
/// (opentsdb-queries.md §14.5). An empty plan means that raw data is read.
struct RollupPlan {
  std::vector<const codec::RollupLevel*> levels;  // never contains the default level
  bool then_raw = false;                          // raw data is read if no level has series
  /// `stored` is the stored aggregate that is read. For averages it is the sum, and `count` is read
  /// in addition.
  codec::RollupAggregate stored;
  bool average = false;
  codec::RollupAggregate count;
  const Aggregator* function = nullptr;      // applied to stored values
  const Aggregator* raw_function = nullptr;  // applied to raw data if the query falls back to it
};

/// Returns the rollup usage that a text means (opentsdb-queries.md §14.5), in the form that
/// OpenTSDB prints.
std::string_view RollupUsageName(const std::string& text);

/// Decides which rollup tables a sub-query reads. The plan borrows `tables`. InvalidArgument: the
/// configuration has no id for the function. Unsupported: the interval is below a second, for which
/// OpenTSDB sends 500.
Result<RollupPlan> PlanRollup(const codec::RollupTables& tables, const SubQuery& text,
                              const DownsampleSpec* downsample);

/// Returns whether a sub-query requests values that were aggregated over series
/// (opentsdb-queries.md §14.6). `raw_value` is the value of the aggregate tag for raw data.
bool AsksForPreAggregates(const SubQuery& text, std::string_view aggregate_key,
                          std::string_view raw_value);

/// Returns the range of row bases to read from a rollup table.
ScanWindow PlanRollupScan(int64_t start_ms, int64_t end_ms, bool rate,
                          const codec::RollupInterval& interval);

}  // namespace hg::query
