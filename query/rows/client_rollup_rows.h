#pragma once
// Reads the rows of a sub-query from the tables to which clients write rollups and pre-aggregates
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
  /// The time in milliseconds up to which the sub-query reads rollups. From this time on, it reads
  /// raw points, because later rollups may not be complete (opentsdb-queries.md §14.5). nullopt:
  /// the time range is not divided.
  std::optional<int64_t> split_ms;

  [[nodiscard]] bool any() const { return pre_aggregates || !rollups.levels.empty(); }
};

/// The kind of tables that a sub-query may read. kAny: all tables. If the time range of a sub-query
/// is divided, one part reads only rollups (kRollups) and the other part reads only raw points
/// (kRaw).
enum class TablesAllowed : unsigned char { kAny, kRollups, kRaw };

/// Decides which tables a sub-query reads. InvalidArgument: the sub-query requests pre-aggregates,
/// but no rollups are configured. Also returns the errors of PlanRollup.
Result<ClientTables> PlanClientTables(const RunContext& context, const ValidSubQuery& sub,
                                      int64_t start_ms, int64_t end_ms, TablesAllowed allowed);

/// Reads the tables one after another until a table has series. Changes the hours and buckets of
/// `plan` to those of that table, and stores the series in `out`. Returns false if raw points must
/// be read instead. In this case, `out` is empty, and the plan has the hours and buckets of raw
/// points.
Result<bool> ReadClientTables(const ClientTables& tables, SubQueryPlan* plan, SeriesRead* out);

}  // namespace hg::query
