#pragma once
// Reads a sub-query from the tables that clients write: rollups and pre-aggregates
// (opentsdb-queries.md §14).

#include <cstdint>
#include <optional>

#include "query/plan/rollup.h"
#include "query/rows/row_source.h"
#include "query/rows/sub_query_plan.h"
#include "storage/base/status.h"

namespace hg::query {

/// The tables that a sub-query reads instead of raw points, or before them.
struct ClientTables {
  RollupPlan rollups;
  bool pre_aggregates = false;
  /// Rollups are read before this time and raw points from it on, because later rollups may not be
  /// complete (opentsdb-queries.md §14.5). Empty = the time range is not divided.
  std::optional<int64_t> split_ms;

  [[nodiscard]] bool any() const { return pre_aggregates || !rollups.levels.empty(); }
};

/// The tables that a sub-query may read. Each part of a divided query reads one kind only.
enum class TablesAllowed : unsigned char { kAny, kRollups, kRaw };

/// Returns the tables for a sub-query. InvalidArgument: the sub-query requests pre-aggregates, and
/// no rollups are configured. Also fails with the errors of PlanRollup.
Result<ClientTables> PlanClientTables(const RunContext& context, const ValidSubQuery& sub,
                                      int64_t start_ms, int64_t end_ms, TablesAllowed allowed);

/// Reads the tables one after the other until one has series. Changes the hours and buckets of the
/// plan to those of the table that it reads. Returns false if raw points must be read instead:
/// `out` is then clear, and the plan is that of raw points.
Result<bool> ReadClientTables(const ClientTables& tables, SubQueryPlan* plan, SeriesRead* out);

}  // namespace hg::query
