#pragma once
// Which rollup table a sub-query reads (spec query.md §14.2, §14.3). Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/downsample.h"
#include "query/plan.h"
#include "query/request.h"
#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"

namespace hg::query {

/// What is read in turn, until series are found (§14.5). An empty plan reads raw data as ever.
struct RollupPlan {
  std::vector<const codec::RollupLevel*> levels;  // never the default one
  bool then_raw = false;                          // behind the levels
  /// The stored aggregate, the function over it; avg: sums here, those of `count` beside them.
  codec::RollupAggregate stored;
  bool average = false;
  codec::RollupAggregate count;
  const Aggregator* function = nullptr;      // over stored values
  const Aggregator* raw_function = nullptr;  // where it falls to raw data
};

/// The usage that a text means (§14.5), in OpenTSDB's spelling.
std::string_view RollupUsageName(const std::string& text);

/// InvalidArgument: no id is configured for the function. Unsupported: an interval below a second,
/// which OpenTSDB answers with 500. The plan borrows the tables.
Result<RollupPlan> PlanRollup(const codec::RollupTables& tables, const SubQuery& text,
                              const DownsampleSpec* downsample);

/// True if a sub-query asks for values that were aggregated over series (§14.6). `raw_value`: of
/// the aggregate tag.
bool AsksForPreAggregates(const SubQuery& text, std::string_view aggregate_key,
                          std::string_view raw_value);

/// Row bases that are read of a rollup table.
ScanWindow PlanRollupScan(int64_t start_ms, int64_t end_ms, bool rate,
                          const codec::RollupInterval& interval);

}  // namespace hg::query
