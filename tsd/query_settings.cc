#include "tsd/query_settings.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "query/time/time_zone.h"
#include "tsd/rollup_settings.h"
#include "tsd/setting_values.h"
#include "tsd/settings.h"

namespace hg::tsd {
namespace {

/// All queries together may use a quarter of the memory limit, and one query half of that quarter.
/// A query counts as large if it holds more than 1/kLargeShares of the quarter. This limit is at
/// least kLargeBytesMin and at most kLargeBytesMax.
Status ReadQueryBudgets(const Config& config, query::Options* options) {
  constexpr int64_t kLargeShares = 256;
  constexpr int64_t kLargeBytesMin = 1 << 20, kLargeBytesMax = 4 << 20;
  ASSIGN_OR_RETURN(const uint64_t memory_bytes, ReadMemoryLimit(config));
  options->memory_bytes_max = static_cast<int64_t>(memory_bytes / 4);
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.query.memory.limit", 0, kLongMax, &options->memory_bytes_max));
  options->query_memory_bytes_max = options->memory_bytes_max / 2;
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.query.memory.per_query", 0, kLongMax, &options->query_memory_bytes_max));
  if (options->memory_bytes_max > 0) {
    options->large_bytes =
        std::clamp(options->memory_bytes_max / kLargeShares, kLargeBytesMin, kLargeBytesMax);
  }
  query::LargeQueryQueueOptions& queue = options->large_queries;
  queue.width = std::max(1U, std::thread::hardware_concurrency());
  RETURN_IF_ERROR(ReadInt(config, "tsd.query.large.concurrent", 0, kIntMax, &queue.width));
  RETURN_IF_ERROR(ReadInt(config, "tsd.query.large.waiting", 0, kIntMax, &queue.waiting_max));
  return ReadInt(config, "tsd.query.large.wait", 0, kLongMax / 1'000'000, &queue.wait_max_ms);
}

}  // namespace

Result<query::Options> ReadQueryOptions(const Config& config) {
  query::Options options;
  RETURN_IF_ERROR(ReadInt(config, "tsd.query.filter.expansion_limit", 0, kIntMax,
                          &options.filter_expansion_limit));
  options.skip_unresolved_tagvs = config.Bool("tsd.query.skip_unresolved_tagvs");
  options.fuzzy_filter = config.Bool("tsd.query.enable_fuzzy_filter");
  RETURN_IF_ERROR(ReadInt(config, "tsd.query.timeout", 0, kLongMax, &options.timeout_ms));
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.query.limits.bytes.default", 0, kLongMax, &options.bytes_max));
  options.bytes_override_allowed = config.Bool("tsd.query.limits.bytes.allow_override");
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.query.limits.data_points.default", 0, kLongMax, &options.cells_max));
  options.cells_override_allowed = config.Bool("tsd.query.limits.data_points.allow_override");
  options.limits_file = config.String("tsd.query.limits.overrides.config");
  RETURN_IF_ERROR(ReadInt(config, "tsd.query.limits.overrides.interval", 1, kIntMax,
                          &options.limits_file_interval_s));
  options.simultaneous_duplicates = config.Bool("tsd.query.allow_simultaneous_duplicates");
  RETURN_IF_ERROR(ReadQueryBudgets(config, &options));
  options.delete_allowed = config.Bool("tsd.http.query.allow_delete");
  options.tsuid_tracking = config.Bool("tsd.core.meta.enable_tsuid_tracking");
  options.tsuid_incrementing = config.Bool("tsd.core.meta.enable_tsuid_incrementing");
  options.reconcile = ReadReconcileOptions(config);
  RETURN_IF_ERROR(
      ReadInt(config, "tsd.storage.hbase.scanner.maxNumRows", 1, kIntMax, &options.batch_rows));
  options.timezone = config.String("tsd.core.timezone");
  if (!options.timezone.empty()) {
    const Status known = query::TimeZone::Find(options.timezone).status();
    if (!known.ok())
      return Prepend(known, "setting tsd.core.timezone = \"" + options.timezone + "\"");
  }
  options.data_table = config.String("tsd.storage.hbase.data_table");
  options.meta_table = config.String("tsd.storage.hbase.meta_table");
  ASSIGN_OR_RETURN(std::optional<RollupIngestOptions> rollups, ReadRollupOptions(config));
  if (rollups) options.rollups = std::move(rollups->tables);
  options.split_rollups = config.Bool("tsd.rollups.split_query.enable");
  options.aggregate_key = config.String("tsd.rollups.agg_tag_key");
  options.raw_aggregate = config.String("tsd.rollups.raw_agg_tag_value");
  return options;
}

Result<int64_t> ReadQueryCacheBytes(const Config& config) {
  constexpr uint64_t kShare = 20;
  ASSIGN_OR_RETURN(const uint64_t memory_bytes, ReadMemoryLimit(config));
  return config.Int("tsd.query.cache.bytes", static_cast<int64_t>(memory_bytes / kShare), 0);
}

Result<int64_t> ReadSlowQueryMs(const Config& config) {
  return config.Int("tsd.query.slow_log", 0, 0, kLongMax);
}

}  // namespace hg::tsd
