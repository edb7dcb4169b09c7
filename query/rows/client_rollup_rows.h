#pragma once
// Reads a sub-query from the tables to which clients write rollups and pre-aggregates
// (opentsdb-queries.md §14).

#include <cstdint>
#include <optional>

#include "query/plan/rollup.h"
#include "query/rows/row_source.h"
#include "query/rows/sub_query_plan.h"
#include "storage/base/status.h"

namespace hg::query {

/// The tables that a sub-query reads instead of raw points, or that it tries before raw points.
struct ClientTables {
  RollupPlan rollups;
  bool pre_aggregates = false;
  /// The end of the time range that is read from rollups. From this time on, the query reads raw
  /// points, because later rollups may not be complete (opentsdb-queries.md §14.5). nullopt = the
  /// range is not divided.
  std::optional<int64_t> split_ms;

  [[nodiscard]] bool any() const { return pre_aggregates || !rollups.levels.empty(); }
};

/// The kind of tables that a sub-query may read. If the time range of a query is divided, each part
/// reads only one kind.
enum class TablesAllowed : unsigned char { kAny, kRollups, kRaw };

/// Returns the tables of a sub-query. InvalidArgument: the sub-query requests pre-aggregates, but
/// no rollups are configured. Also returns the errors of PlanRollup.
Result<ClientTables> PlanClientTables(const RunContext& context, const ValidSubQuery& sub,
                                      int64_t start_ms, int64_t end_ms, TablesAllowed allowed);

/// Reads the tables one after another until a table has series. Changes the hours and buckets of
/// the plan to those of that table. Returns false if raw points must be read instead. In this case,
/// `out` is empty, and the plan has the hours and buckets of raw points.
Result<bool> ReadClientTables(const ClientTables& tables, SubQueryPlan* plan, SeriesRead* out);

}  // namespace hg::query
