#pragma once
// Options of the modules that run queries (opentsdb-queries.md §18). tsd/config sets the options;
// the other modules do not know the names of settings. The names of the members contain their
// units.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "query/request/large_query_queue.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"

namespace hg::query {

struct Options {
  /// The maximum number of values of one literal_or filter (tsd.query.filter.expansion_limit).
  size_t filter_expansion_limit = 4096;
  bool skip_unresolved_tagvs = false;  // value of tsd.query.skip_unresolved_tagvs
  bool fuzzy_filter = true;            // value of tsd.query.enable_fuzzy_filter (quirk Q7)

  int64_t timeout_ms = 0;  // time limit of each request; tsd.query.timeout; 0 = no limit
  /// tsd.query.limits.bytes.default: the number of bytes that one sub-query may read; 0 = no limit.
  int64_t bytes_max = 0;
  bool bytes_override_allowed = false;  // value of tsd.query.limits.bytes.allow_override
  /// tsd.query.limits.data_points.default: the number of cells that one sub-query may read; 0 = no
  /// limit.
  int64_t cells_max = 0;
  bool cells_override_allowed = false;  // value of tsd.query.limits.data_points.allow_override
  /// tsd.query.limits.overrides.config: the path of the limits file, or its JSON text; "" = no
  /// limits file.
  std::string limits_file;
  int64_t limits_file_interval_s = 60000;  // value of tsd.query.limits.overrides.interval
  bool simultaneous_duplicates = true;     // value of tsd.query.allow_simultaneous_duplicates

  /// tsd.query.memory.limit: the maximum memory of all queries together; 0 = no limit.
  int64_t memory_bytes_max = 0;
  /// tsd.query.memory.per_query: the maximum memory of one query; 0 = no limit.
  int64_t query_memory_bytes_max = 0;
  LargeQueryQueueOptions large_queries;  // values of tsd.query.large.*
  /// A query is large if it takes more than `large_steps` steps or holds more than `large_bytes`
  /// bytes of memory. 0 = no limit. Each point that is read or merged counts as one step, and each
  /// row counts as 64 steps. The default of `large_steps` is about 20 ms of one core.
  uint64_t large_steps = 1 << 20;
  int64_t large_bytes = 4 << 20;

  /// tsd.http.query.allow_delete: whether queries may delete points by DELETE or
  /// method_override=delete.
  bool delete_allowed = false;

  bool tsuid_tracking = false;      // value of tsd.core.meta.enable_tsuid_tracking
  bool tsuid_incrementing = false;  // value of tsd.core.meta.enable_tsuid_incrementing

  ReconcileOptions reconcile;  // values of tsd.storage.fix_duplicates and related settings
  /// tsd.storage.hbase.scanner.maxNumRows: the number of rows between two checks of the limits for
  /// bytes and cells.
  size_t batch_rows = 128;
  /// tsd.core.timezone: default time zone of dates; "" = the zone of the process.
  std::string timezone;

  /// tsd.rollups.config: the tables to which clients write rollups; nullopt = clients write no
  /// rollups.
  std::optional<codec::RollupTables> rollups;
  bool split_rollups = false;                // value of tsd.rollups.split_query.enable
  std::string aggregate_key = "_aggregate";  // value of tsd.rollups.agg_tag_key
  std::string raw_aggregate = "RAW";         // value of tsd.rollups.raw_agg_tag_value

  /// tsd.storage.hbase.data_table: the table that contains global annotations.
  std::string data_table = "tsdb";
  /// tsd.storage.hbase.meta_table: if the tracking of TSUIDs is on, this table contains the time of
  /// the newest point of each series.
  std::string meta_table = "tsdb-meta";
};

}  // namespace hg::query
