#include "tsd/known_settings.h"

#include <algorithm>
#include <iterator>

namespace hg::tsd {
namespace {

constexpr std::string_view kPlugin = "it is for plug-ins, which are Java classes";
constexpr std::string_view kMultiGet = "scans read only the series that match, by index";
constexpr std::string_view kHBase =
    "HBase is reached through its Thrift2 gateway, `tsd.storage.hbase.thrift`";
constexpr std::string_view kLogging = "the log is written to standard error";
constexpr std::string_view kService = "the service manager knows the process";

// Spec schema.md §19.2 in its order; values that differ from OpenTSDB's are those of design.md §3.
constexpr KnownSetting kSettings[] = {
    {"tsd.mode", "rw"},
    {"tsd.no_diediedie", "false"},

    {"tsd.network.port", "4242"},
    {"tsd.network.bind", "127.0.0.1"},
    {"tsd.network.backlog", "3072"},
    {"tsd.network.worker_threads", ""},
    {"tsd.network.async_io", "true", "network threads always are event loops"},
    {"tsd.network.tcp_no_delay", "true"},
    {"tsd.network.keep_alive", "true"},
    {"tsd.network.reuse_address", "true"},

    {"tsd.http.staticroot", ""},
    {"tsd.http.cachedir", "", "plots are drawn anew for each request, which takes milliseconds"},
    {"tsd.http.show_stack_trace", "false", "there is no stack trace to show"},
    {"tsd.http.query.allow_delete", "false"},
    {"tsd.http.header_tag", "", "OpenTSDB reads the header and never adds the tag"},
    {"tsd.http.request.enable_chunked", "true"},
    {"tsd.http.request.max_chunk", "67108864"},
    {"tsd.http.request.cors_domains", ""},
    {"tsd.http.request.cors_headers",
     "Authorization, Content-Type, Accept, Origin, User-Agent, DNT, Cache-Control, X-Mx-ReqToken, "
     "Keep-Alive, X-Requested-With, If-Modified-Since"},
    {"tsd.http.rpc.plugins", "", kPlugin},
    {"tsd.gnuplot.options.allowlist", ";axis x1y2"},

    {"tsd.core.auto_create_metrics", "false"},
    {"tsd.core.auto_create_tagks", "true"},
    {"tsd.core.auto_create_tagvs", "true"},
    {"tsd.core.authentication.enable", "false"},
    {"tsd.core.authentication.plugin", "", kPlugin},
    {"tsd.core.bulk.allow_out_of_order_timestamps", "false"},
    {"tsd.core.connections.limit", "0"},
    {"tsd.core.enable_api", "true"},
    {"tsd.core.enable_ui", "true"},
    {"tsd.core.histograms.config", ""},
    {"tsd.core.meta.enable_realtime_ts", "false"},
    {"tsd.core.meta.enable_realtime_uid", "false"},
    {"tsd.core.meta.enable_tsuid_incrementing", "false"},
    {"tsd.core.meta.enable_tsuid_tracking", "false"},
    {"tsd.core.meta.cache.enable", "false", kPlugin},
    {"tsd.core.meta.cache.plugin", "", kPlugin},
    {"tsd.core.plugin_path", "", kPlugin},
    {"tsd.core.preload_uid_cache", "false"},
    {"tsd.core.preload_uid_cache.max_entries", "300000"},
    {"tsd.core.response.async", "true",
     "answers are always written by other threads than those that make them"},
    {"tsd.core.response.worker.num", "10"},
    {"tsd.core.socket.timeout", "0"},
    {"tsd.core.stats_with_port", "false"},
    {"tsd.core.storage_exception_handler.enable", "false", kPlugin},
    {"tsd.core.storage_exception_handler.plugin", "", kPlugin},
    {"tsd.core.tag.allow_specialchars", ""},
    {"tsd.core.timezone", ""},
    {"tsd.core.tree.enable_processing", "false"},
    {"tsd.core.uid.random_metrics", "false"},
    {"tsd.core.flushinterval", "", "OpenTSDB never reads it either"},

    {"tsd.query.allow_simultaneous_duplicates", "true"},
    {"tsd.query.enable_fuzzy_filter", "true"},
    {"tsd.query.filter.expansion_limit", "4096"},
    {"tsd.query.limits.bytes.default", "0"},
    {"tsd.query.limits.bytes.allow_override", "false"},
    {"tsd.query.limits.data_points.default", "0"},
    {"tsd.query.limits.data_points.allow_override", "false"},
    {"tsd.query.limits.overrides.config", ""},
    {"tsd.query.limits.overrides.interval", "60000"},
    {"tsd.query.multi_get.enable", "false", kMultiGet},
    {"tsd.query.multi_get.limit", "131072", kMultiGet},
    {"tsd.query.multi_get.batch_size", "1024", kMultiGet},
    {"tsd.query.multi_get.concurrent", "20", kMultiGet},
    {"tsd.query.multi_get.get_all_salts", "false", kMultiGet},
    {"tsd.query.skip_unresolved_tagvs", "false"},
    {"tsd.query.timeout", "0"},

    {"tsd.rpc.plugins", "", kPlugin},
    {"tsd.rpc.telnet.return_errors", "true"},
    {"tsd.rtpublisher.enable", "false", kPlugin},
    {"tsd.rtpublisher.plugin", "", kPlugin},
    {"tsd.search.enable", "false", kPlugin},
    {"tsd.search.plugin", "", kPlugin},
    {"tsd.startup.enable", "false", kPlugin},
    {"tsd.startup.plugin", "", kPlugin},
    {"tsd.stats.canonical", "false"},

    {"tsd.rollups.enable", "false"},
    {"tsd.rollups.config", ""},
    {"tsd.rollups.tag_raw", "false"},
    {"tsd.rollups.agg_tag_key", "_aggregate"},
    {"tsd.rollups.raw_agg_tag_value", "RAW"},
    {"tsd.rollups.block_derived", "true"},
    {"tsd.rollups.split_query.enable", "false"},

    {"tsd.storage.hbase.data_table", "tsdb"},
    {"tsd.storage.hbase.uid_table", "tsdb-uid"},
    {"tsd.storage.hbase.tree_table", "tsdb-tree"},
    {"tsd.storage.hbase.meta_table", "tsdb-meta"},
    {"tsd.storage.hbase.zk_quorum", "localhost", kHBase},
    {"tsd.storage.hbase.zk_basedir", "/hbase", kHBase},
    {"tsd.storage.hbase.prefetch_meta", "false", kHBase},
    {"tsd.storage.hbase.scanner.maxNumRows", "128"},
    {"tsd.storage.flush_interval", "1000",
     "writes are not held back; how soon they are on the disk is tsd.storage.durability"},
    {"tsd.storage.enable_compaction", "true"},
    {"tsd.storage.compaction.flush_interval", "10"},
    {"tsd.storage.compaction.min_flush_threshold", "100"},
    {"tsd.storage.compaction.max_concurrent_flushes", "10000"},
    {"tsd.storage.compaction.flush_speed", "2"},
    {"tsd.storage.enable_appends", "false"},
    {"tsd.storage.repair_appends", "false"},
    {"tsd.storage.fix_duplicates", "false"},
    {"tsd.storage.max_tags", "8"},
    {"tsd.storage.salt.width", "0"},
    {"tsd.storage.salt.buckets", "20"},
    {"tsd.storage.uid.width.metric", "3"},
    {"tsd.storage.uid.width.tagk", "3"},
    {"tsd.storage.uid.width.tagv", "3"},
    {"tsd.storage.use_otsdb_timestamp", "false"},
    {"tsd.storage.use_max_value", "true"},
    {"tsd.storage.get_date_tiered_compaction_start", "0",
     "scans find their rows without the help of cell times"},

    {"tsd.timeseriesfilter.enable", "false", kPlugin},
    {"tsd.timeseriesfilter.plugin", "", kPlugin},
    {"tsd.uidfilter.enable", "false"},
    {"tsd.uidfilter.plugin", ""},
    {"tsd.uidfilter.whitelist.delimiter", ","},
    {"tsd.uidfilter.whitelist.metric_patterns", ""},
    {"tsd.uidfilter.whitelist.tagk_patterns", ""},
    {"tsd.uidfilter.whitelist.tagv_patterns", ""},
    {"tsd.uid.use_mode", "false"},
    {"tsd.uid.lru.enable", "false"},
    {"tsd.uid.lru.name.size", "5000000"},
    {"tsd.uid.lru.id.size", "5000000"},

    // Of OpenTSDB's build as a single archive.
    {"tsd.logback.file", "", kLogging},
    {"tsd.logback.rollpattern", "", kLogging},
    {"tsd.logback.console", "", kLogging},
    {"tsd.logback.config", "", kLogging},
    {"tsd.process.pid.file", "", kService},
    {"tsd.process.pid.ignore.existing", "", kService},
    {"tsd.ui.noexport", "", "there are no files of the user interface to unpack"},
    {"tsd.core.config", "", "the file is named by --config"},
    {"tsd.core.config.include", "", "settings come from one file"},

    // Ours.
    {"tsd.storage.backend", "embedded"},
    {"tsd.storage.path", "data"},
    {"tsd.storage.durability", "logged"},
    {"tsd.storage.sync_interval", "1000"},
    {"tsd.storage.log.max", "536870912"},
    {"tsd.storage.ttl", ""},
    {"tsd.retention.config", ""},
    {"tsd.retention.interval", "3600"},
    {"tsd.storage.memstore.percent", "40"},
    {"tsd.storage.block_cache.percent", "15"},
    {"tsd.storage.region.split_policy", "stepping"},
    {"tsd.storage.region.max_size", "10737418240"},
    {"tsd.storage.region.flush_size", "134217728"},
    {"tsd.storage.merge.throughput", "52428800"},
    {"tsd.storage.merge.large", "2684354560"},
    {"tsd.storage.merge.off_peak", ""},
    {"tsd.storage.merge.major_period", "604800"},
    {"tsd.storage.merge.interval", "60"},
    {"tsd.http.admin.remote", "false"},
    {"tsd.storage.hbase.thrift", "127.0.0.1:9090"},
    {"tsd.storage.hbase.thrift.transport", "buffered"},
    {"tsd.storage.hbase.thrift.protocol", "binary"},
    {"tsd.storage.hbase.thrift.connections", "8"},
    {"tsd.storage.hbase.thrift.timeout", "35000"},
    {"tsd.storage.hbase.thrift.deadline", "30000"},
    {"tsd.storage.hbase.create_tables", "true"},
    {"tsd.storage.hbase.spool.size", "1073741824"},
    {"tsd.storage.hbase.spool.path", ""},
    {"tsd.storage.hbase.spool.patience", "2000"},
    {"tsd.memory.limit", ""},
    {"tsd.query.memory.limit", ""},
    {"tsd.query.memory.per_query", ""},
    {"tsd.query.large.concurrent", ""},
    {"tsd.query.large.waiting", "64"},
    {"tsd.query.large.wait", "60000"},
    {"tsd.query.slow_log", "10000"},
};

}  // namespace

std::span<const KnownSetting> KnownSettings() { return kSettings; }

const KnownSetting* FindSetting(std::string_view key) {
  const auto* const found =
      std::find_if(std::begin(kSettings), std::end(kSettings),
                   [&](const KnownSetting& setting) { return setting.key == key; });
  return found == std::end(kSettings) ? nullptr : found;
}

}  // namespace hg::tsd
