#pragma once
// Options of the read path (opentsdb-queries.md §18). tsd/config sets them; other folders do not
// know the names of settings. The names of members contain their units.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "query/request/large_query_queue.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"

namespace hg::query {

struct Options {
  size_t filter_expansion_limit =
      4096;  // maximum number of values of one literal_or filter (tsd.query.filter.expansion_limit)
  bool skip_unresolved_tagvs = false;  // tsd.query.skip_unresolved_tagvs
  bool fuzzy_filter = true;            // tsd.query.enable_fuzzy_filter (quirk Q7)

  int64_t timeout_ms = 0;                  // tsd.query.timeout, for every request; 0 = no timeout
  int64_t bytes_max = 0;                   // tsd.query.limits.bytes.default; 0 = none
  bool bytes_override_allowed = false;     // tsd.query.limits.bytes.allow_override
  int64_t cells_max = 0;                   // tsd.query.limits.data_points.default; 0 = none
  bool cells_override_allowed = false;     // tsd.query.limits.data_points.allow_override
  std::string limits_file;                 // tsd.query.limits.overrides.config; "" = none
  int64_t limits_file_interval_s = 60000;  // tsd.query.limits.overrides.interval
  bool simultaneous_duplicates = true;     // tsd.query.allow_simultaneous_duplicates

  int64_t memory_bytes_max = 0;          // tsd.query.memory.limit, for all queries; 0 = none
  int64_t query_memory_bytes_max = 0;    // tsd.query.memory.per_query; 0 = none
  LargeQueryQueueOptions large_queries;  // tsd.query.large.*
  /// A query is large if it took more steps (points read or merged; a row counts as 64) or holds
  /// more memory than these limits; 0 = no limit. The default is about 20 ms of one core.
  uint64_t large_steps = 1 << 20;
  int64_t large_bytes = 4 << 20;

  bool delete_allowed =
      false;  // tsd.http.query.allow_delete, for DELETE and method_override=delete

  bool tsuid_tracking = false;      // tsd.core.meta.enable_tsuid_tracking
  bool tsuid_incrementing = false;  // tsd.core.meta.enable_tsuid_incrementing

  ReconcileOptions reconcile;  // tsd.storage.fix_duplicates and related settings
  size_t batch_rows =
      128;               // tsd.storage.hbase.scanner.maxNumRows: rows between checks of the limits
  std::string timezone;  // tsd.core.timezone, for dates; "" = the zone of the process

  std::optional<codec::RollupTables> rollups;  // tsd.rollups.config; nullopt = none
  bool split_rollups = false;                  // tsd.rollups.split_query.enable
  std::string aggregate_key = "_aggregate";    // tsd.rollups.agg_tag_key
  std::string raw_aggregate = "RAW";           // tsd.rollups.raw_agg_tag_value

  std::string data_table = "tsdb";  // tsd.storage.hbase.data_table, for global annotations
  std::string meta_table =
      "tsdb-meta";  // tsd.storage.hbase.meta_table, for last points with tracking on
};

}  // namespace hg::query
