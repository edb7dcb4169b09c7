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

constexpr KnownSetting Ignored(std::string_view key, std::string_view default_value,
                               std::string_view why) {
  return {key, default_value, {}, why};
}

// Spec schema.md §19.2 in its order; values that differ from OpenTSDB's are those of design.md §3.
constexpr KnownSetting kSettings[] = {
    {"tsd.mode", "rw",
     "`rw`; `ro`: nothing is written through HTTP or the line protocol; `wo`: nothing is "
     "read. Any other text is `rw`."},
    {"tsd.no_diediedie", "false",
     "Anything but the very text `false` takes away `diediedie`, by which a client stops the "
     "daemon."},

    {"tsd.network.port", "4242",
     "TCP port of HTTP and the line protocol; 0: any free one, which the log tells. OpenTSDB "
     "has no default."},
    {"tsd.network.bind", "127.0.0.1",
     "Address to listen on, or the name of a host. OpenTSDB: `0.0.0.0`."},
    {"tsd.network.backlog", "3072", "Connections that may wait to be accepted."},
    {"tsd.network.worker_threads", "",
     "Network threads; empty: one per core. OpenTSDB: two per core."},
    Ignored("tsd.network.async_io", "true", "network threads always are event loops"),
    {"tsd.network.tcp_no_delay", "true",
     "`false`: small replies of a connection may wait to be sent together."},
    {"tsd.network.keep_alive", "true",
     "The system asks now and then whether a silent client is still there."},
    {"tsd.network.reuse_address", "true", "The port may be taken again right after a stop."},

    {"tsd.http.staticroot", "",
     "Folder behind `/s/` and `/favicon.ico`; empty: 404. OpenTSDB requires it."},
    Ignored("tsd.http.cachedir", "",
            "plots are drawn anew for each request, which takes milliseconds"),
    Ignored("tsd.http.show_stack_trace", "false", "there is no stack trace to show"),
    {"tsd.http.query.allow_delete", "false",
     "`DELETE` and `method_override=delete` of a query delete the rows that it read. "
     "(`\"delete\":true` in a body does so whatever this says, as in OpenTSDB)."},
    Ignored("tsd.http.header_tag", "", "OpenTSDB reads the header and never adds the tag"),
    {"tsd.http.request.enable_chunked", "true",
     "`false`: bodies above 8 KiB, chunked, or announced by `Expect` are refused with 400. "
     "OpenTSDB: `false`."},
    {"tsd.http.request.max_chunk", "67108864",
     "Bytes of a body, as sent and unpacked; above: 413. OpenTSDB: `4096`."},
    {"tsd.http.request.cors_domains", "",
     "Origins that browsers may call from, with their scheme, between commas; or `*`, alone."},
    {"tsd.http.request.cors_headers",
     "Authorization, Content-Type, Accept, Origin, User-Agent, DNT, Cache-Control, X-Mx-ReqToken, "
     "Keep-Alive, X-Requested-With, If-Modified-Since",
     "Sent as `Access-Control-Allow-Headers`."},
    Ignored("tsd.http.rpc.plugins", "", kPlugin),
    {"tsd.gnuplot.options.allowlist", ";axis x1y2",
     "What `o=` of `/q` may say, between semicolons; the only option with a meaning here is "
     "`axis x1y2`."},

    {"tsd.core.auto_create_metrics", "false",
     "New metrics get an id as they are written; else such points are refused. `./run` "
     "switches it on."},
    {"tsd.core.auto_create_tagks", "true", "The same for tag keys."},
    {"tsd.core.auto_create_tagvs", "true", "The same for tag values."},
    {"tsd.core.authentication.enable", "false",
     "`true`: every client says who he is, and does what his roles allow (`docs/security.md`); "
     "needs `tsd.core.authentication.users`."},
    Ignored("tsd.core.authentication.plugin", "",
            "the daemon has an authentication of its own, with `tsd.core.authentication.users`"),
    {"tsd.core.bulk.allow_out_of_order_timestamps", "false",
     "`import` takes points of a series in any order."},
    {"tsd.core.connections.limit", "0",
     "Connections at once; more are closed as they come. 0: no limit."},
    {"tsd.core.enable_api", "true", "Anything but the very text `true` takes away `/api/…`."},
    {"tsd.core.enable_ui", "true",
     "Anything but the very text `true` takes away what is not below `/api`."},
    {"tsd.core.histograms.config", "",
     "`{\"net.opentsdb.core.SimpleHistogramDecoder\":ID}`, or a path that ends in `.json`: "
     "histograms are taken and read, stored with this id."},
    {"tsd.core.meta.enable_realtime_ts", "false",
     "With tracking: a TSMeta object is stored for each new series."},
    {"tsd.core.meta.enable_realtime_uid", "false", "A UIDMeta object is stored for each new name."},
    {"tsd.core.meta.enable_tsuid_incrementing", "false",
     "With both others: points of each series are counted."},
    {"tsd.core.meta.enable_tsuid_tracking", "false",
     "Each series that is written is noted in the meta table; last points are found through "
     "it."},
    Ignored("tsd.core.meta.cache.enable", "false", kPlugin),
    Ignored("tsd.core.meta.cache.plugin", "", kPlugin),
    Ignored("tsd.core.plugin_path", "", kPlugin),
    {"tsd.core.preload_uid_cache", "false", "Names and ids are read when the daemon starts."},
    {"tsd.core.preload_uid_cache.max_entries", "300000", "At most so many rows of them."},
    Ignored("tsd.core.response.async", "true",
            "answers are always written by other threads than those that make them"),
    {"tsd.core.response.worker.num", "10",
     "Threads that answer requests other than writes of known series."},
    {"tsd.core.socket.timeout", "0",
     "Seconds after which a silent connection is closed; 0: never."},
    {"tsd.core.stats_with_port", "false", "Statistics carry the tag `port`."},
    Ignored("tsd.core.storage_exception_handler.enable", "false", kPlugin),
    Ignored("tsd.core.storage_exception_handler.plugin", "", kPlugin),
    {"tsd.core.tag.allow_specialchars", "", "More characters that names may have."},
    {"tsd.core.timezone", "", "Zone of dates in queries; empty: the process' own."},
    {"tsd.core.tree.enable_processing", "false",
     "Series are sorted into the trees as they are first stored (needs tracking and realtime "
     "TSMeta)."},
    {"tsd.core.uid.random_metrics", "false", "Ids of metrics are random instead of counted."},
    Ignored("tsd.core.flushinterval", "", "OpenTSDB never reads it either"),

    {"tsd.query.allow_simultaneous_duplicates", "true",
     "`false`: a query is refused while the same client's same query runs."},
    {"tsd.query.enable_fuzzy_filter", "true",
     "With `explicitTags` and several lists of values OpenTSDB's row filter loses "
     "combinations; `false`: none is lost."},
    {"tsd.query.filter.expansion_limit", "4096",
     "Values of one `literal_or` that are looked up as ids; longer lists are compared as text."},
    {"tsd.query.limits.bytes.default", "0",
     "Bytes that one sub-query may read, 413 above; 0: no limit."},
    {"tsd.query.limits.bytes.allow_override", "false",
     "A body's `overrideByteLimit` lifts that limit."},
    {"tsd.query.limits.data_points.default", "0",
     "Cells that one sub-query may read, 413 above; 0: no limit."},
    {"tsd.query.limits.data_points.allow_override", "false",
     "A body's `overrideDataPointLimit` lifts that limit."},
    {"tsd.query.limits.overrides.config", "", "JSON file of limits by metric."},
    {"tsd.query.limits.overrides.interval", "60000", "Seconds after which that file is read anew."},
    Ignored("tsd.query.multi_get.enable", "false", kMultiGet),
    Ignored("tsd.query.multi_get.limit", "131072", kMultiGet),
    Ignored("tsd.query.multi_get.batch_size", "1024", kMultiGet),
    Ignored("tsd.query.multi_get.concurrent", "20", kMultiGet),
    Ignored("tsd.query.multi_get.get_all_salts", "false", kMultiGet),
    {"tsd.query.skip_unresolved_tagvs", "false",
     "Unknown values in a `literal_or` are passed over instead of refused."},
    {"tsd.query.timeout", "0", "Milliseconds that a query may take, 413 after; 0: no limit."},

    Ignored("tsd.rpc.plugins", "", kPlugin),
    {"tsd.rpc.telnet.return_errors", "true",
     "`false`: what the store refuses of a `put` line is not told."},
    Ignored("tsd.rtpublisher.enable", "false", kPlugin),
    Ignored("tsd.rtpublisher.plugin", "", kPlugin),
    Ignored("tsd.search.enable", "false", kPlugin),
    Ignored("tsd.search.plugin", "", kPlugin),
    Ignored("tsd.startup.enable", "false", kPlugin),
    Ignored("tsd.startup.plugin", "", kPlugin),
    {"tsd.stats.canonical", "false", "Statistics carry the tag `fqdn` instead of `host`."},

    {"tsd.rollups.enable", "false", "Rollups and pre-aggregates are taken and read."},
    {"tsd.rollups.config", "", "Their intervals and tables: JSON, or a path that ends in `.json`."},
    {"tsd.rollups.automatic", "false",
     "They are made here, from the points, and kept right ([rollups](rollups.md)). Embedded store "
     "only."},
    {"tsd.rollups.automatic.delay", "600",
     "Seconds that an interval must be over before its rollups are made."},
    {"tsd.rollups.tag_raw", "false", "Rollups of one series carry the tag below, too."},
    {"tsd.rollups.agg_tag_key", "_aggregate",
     "Key of the tag that names the function of a pre-aggregate."},
    {"tsd.rollups.raw_agg_tag_value", "RAW", "Its value for what is not a pre-aggregate."},
    {"tsd.rollups.block_derived", "true", "Pre-aggregates by `avg` and `dev` are refused."},
    {"tsd.rollups.split_query.enable", "false",
     "A query that reaches into the `delaySla` of its rollups reads raw data there."},

    {"tsd.storage.hbase.data_table", "tsdb", "Name of the table of points."},
    {"tsd.storage.hbase.uid_table", "tsdb-uid", "Name of the table of names and ids."},
    {"tsd.storage.hbase.tree_table", "tsdb-tree", "Name of the table of trees."},
    {"tsd.storage.hbase.meta_table", "tsdb-meta", "Name of the table of series' metadata."},
    Ignored("tsd.storage.hbase.zk_quorum", "localhost", kHBase),
    Ignored("tsd.storage.hbase.zk_basedir", "/hbase", kHBase),
    Ignored("tsd.storage.hbase.prefetch_meta", "false", kHBase),
    {"tsd.storage.hbase.scanner.maxNumRows", "128",
     "Rows between two looks at the limits of a query."},
    Ignored("tsd.storage.flush_interval", "1000",
            "writes are not held back; how soon they are on the disk is tsd.storage.durability"),
    {"tsd.storage.enable_compaction", "true",
     "Rows are shown, and folded where need be, as one cell."},
    {"tsd.storage.compaction.flush_interval", "10",
     "Over HBase: seconds between rounds in which rows whose hour is over are folded. The "
     "embedded store needs none."},
    {"tsd.storage.compaction.min_flush_threshold", "100",
     "Over HBase: a round takes place only with more rows than these, and may take as many."},
    {"tsd.storage.compaction.max_concurrent_flushes", "10000",
     "Over HBase: rows of a round at most; over 10000 counts as that."},
    {"tsd.storage.compaction.flush_speed", "2",
     "Over HBase: a round takes as many times the rows that would have all of them done in an "
     "hour."},
    {"tsd.storage.enable_appends", "false", "Points are appended to one cell of their row."},
    {"tsd.storage.repair_appends", "false",
     "Such cells are rewritten where a read finds them unsorted."},
    {"tsd.storage.fix_duplicates", "false",
     "Of two points of one instant the later written counts; `false`: the query fails."},
    {"tsd.storage.max_tags", "8", "Tags of one point."},
    {"tsd.storage.salt.width", "0",
     "Bytes of salt in front of row keys. Fixed for the life of the data."},
    {"tsd.storage.salt.buckets", "20", "Values of the salt. Fixed for the life of the data."},
    {"tsd.storage.uid.width.metric", "3",
     "Bytes of a metric's id. Fixed for the life of the data."},
    {"tsd.storage.uid.width.tagk", "3", "Bytes of a tag key's id. Fixed for the life of the data."},
    {"tsd.storage.uid.width.tagv", "3",
     "Bytes of a tag value's id. Fixed for the life of the data."},
    {"tsd.storage.use_otsdb_timestamp", "false",
     "Cells carry the time of their point; of two points of one instant the larger value "
     "counts."},
    {"tsd.storage.use_max_value", "true", "`false`: the smaller one."},
    Ignored("tsd.storage.get_date_tiered_compaction_start", "0",
            "scans find their rows without the help of cell times"),

    Ignored("tsd.timeseriesfilter.enable", "false", kPlugin),
    Ignored("tsd.timeseriesfilter.plugin", "", kPlugin),
    {"tsd.uidfilter.enable", "false", "The filter below is asked before a name gets an id."},
    {"tsd.uidfilter.plugin", "",
     "`net.opentsdb.uid.UniqueIdWhitelistFilter`; with any other the daemon refuses to start."},
    {"tsd.uidfilter.whitelist.delimiter", ",",
     "Regular expression between the patterns of a list."},
    {"tsd.uidfilter.whitelist.metric_patterns", "",
     "Regular expressions that each new metric must all contain; empty: any metric."},
    {"tsd.uidfilter.whitelist.tagk_patterns", "", "The same for tag keys."},
    {"tsd.uidfilter.whitelist.tagv_patterns", "", "The same for tag values."},
    {"tsd.uid.use_mode", "false",
     "In mode `ro` only names of ids are cached, in mode `wo` only ids of names."},
    {"tsd.uid.lru.enable", "false",
     "The caches of names and ids are limited by the two sizes below."},
    {"tsd.uid.lru.name.size", "5000000", "Names of ids that are kept, per kind."},
    {"tsd.uid.lru.id.size", "5000000", "Ids of names that are kept, per kind."},

    // Of OpenTSDB's build as a single archive.
    Ignored("tsd.logback.file", "", kLogging),
    Ignored("tsd.logback.rollpattern", "", kLogging),
    Ignored("tsd.logback.console", "", kLogging),
    Ignored("tsd.logback.config", "", kLogging),
    Ignored("tsd.process.pid.file", "", kService),
    Ignored("tsd.process.pid.ignore.existing", "", kService),
    Ignored("tsd.ui.noexport", "", "there are no files of the user interface to unpack"),
    Ignored("tsd.core.config", "", "the file is named by --config"),
    Ignored("tsd.core.config.include", "", "settings come from one file"),

    // Ours.
    {"tsd.storage.backend", "embedded",
     "`embedded`: the data directory `tsd.storage.path`; `hbase`: the tables of an HBase "
     "cluster (`docs/hbase.md`)."},
    {"tsd.storage.path", "data", "The data directory."},
    {"tsd.storage.durability", "logged",
     "When a write is answered: `synced`: it is on the disk; `logged`: it is in the log, "
     "which is synced in the background; `buffered`: never synced on purpose; `none`: no log."},
    {"tsd.storage.sync_interval", "1000", "Milliseconds between those syncs."},
    {"tsd.storage.log.max", "536870912", "Bytes of log at which memory is written to files."},
    {"tsd.storage.ttl", "",
     "Seconds for which points are kept, counted from their own time, not from their writing "
     "as HBase does; annotations and histograms go with the end of their hour. Files of "
     "nothing else are removed unread. `0`: for ever; empty: as the table's descriptor says "
     "(`TTL`), at first for ever."},
    {"tsd.retention.config", "",
     "JSON file, or the array itself, of what is kept how long: `[{\"metric\": \"sys.*\", "
     "\"tags\": {\"host\": \"web*\"}, \"keep\": \"30d\"}]` ([retention](retention.md)). "
     "Empty: points stay."},
    {"tsd.retention.interval", "3600",
     "Seconds between two looks for points that have become too old."},
    {"tsd.storage.memstore.percent", "40",
     "Share of `tsd.memory.limit` for points that are in no file yet, names and series."},
    {"tsd.storage.block_cache.percent", "15",
     "Share of `tsd.memory.limit` for blocks of files that were read, unpacked; 0: none. Both "
     "together at most 80: queries need the rest."},
    {"tsd.storage.region.split_policy", "stepping",
     "When a region is divided by itself: `stepping`: the only one of its table at twice the "
     "flush size below, others at the largest size; `constant`: at the largest size; "
     "`increasing`: at R³ · 2 flush sizes, R being the table's regions; `increasing2`: at R² "
     "flush sizes; `none`: never."},
    {"tsd.storage.region.max_size", "10737418240",
     "That largest size: bytes of a region's files, an eighth more or less by chance."},
    {"tsd.storage.region.flush_size", "134217728", "Bytes, for the policy only."},
    {"tsd.storage.merge.throughput", "52428800",
     "Bytes per second that background merges write, up to twice as many the more files wait, "
     "as many as they can once flushes wait for them; 0: no limit."},
    {"tsd.storage.merge.large", "2684354560",
     "Bytes above which a merge has a thread of its own, so that smaller ones do not wait for "
     "it."},
    {"tsd.storage.merge.off_peak", "",
     "Hours of the day, UTC, in which files of less like sizes are merged, too: `22-6`; "
     "empty: none."},
    {"tsd.storage.merge.major_period", "604800",
     "Seconds, up to half more or less by chance, after which all files of a region are "
     "merged if they hold marks of deletes; 0: never by itself."},
    {"tsd.storage.merge.interval", "60",
     "Seconds between two looks for files to merge, to remove since all in them has expired, "
     "or regions to divide; after each flush there is a look, too."},
    {"tsd.http.query.omit_nan", "false",
     "`true`: what fills and arithmetic leave as NaN is left out of the answers of `/api/query`; "
     "`false`: it is there as `\"NaN\"` or `null` (`docs/grafana.md`)."},
    {"tsd.http.lookup.distinct_first", "false",
     "`true`: `/api/search/lookup` with a limit shows series with new tags before others "
     "(`docs/grafana.md`)."},
    {"tsd.http.admin.remote", "false", "`/api/admin` answers clients on other machines, too."},
    {"tsd.ingest.default_tag", "source=unknown",
     "`KEY=VALUE`: the tag of points that other languages give without any, since every series has "
     "one (`languages.md`)."},
    {"tsd.graphite.port", "",
     "Port of Graphite's plaintext lines, at `tsd.network.bind` (2003 is usual); empty: none. 0: "
     "any "
     "free one, which the log tells."},
    {"tsd.graphite.pickle.port", "", "The same of its pickled points (2004)."},
    {"tsd.graphite.anonymous", "false",
     "`true`: these ports are open, too, where others must say who they are, which Graphite's "
     "clients cannot; else the daemon does not start with both."},
    {"tsd.core.authentication.users", "",
     "The file of users, their roles, and hashes of their passwords and tokens, which `tsdb user` "
     "writes. `SIGHUP`: it is read anew; one with a mistake is named in the log and changes "
     "nothing."},
    {"tsd.network.tls.certificate", "",
     "PEM file of the daemon's certificate, with those that vouch for it behind it; with it HTTP "
     "and the line protocol are spoken over TLS, 1.2 or later (`docs/security.md`). `SIGHUP`: it "
     "is read anew, for connections that begin then."},
    {"tsd.network.tls.key", "", "PEM file of its private key, without a passphrase."},
    {"tsd.network.tls.port", "",
     "Port of its own for TLS, beside the plain one; empty: `tsd.network.port` speaks TLS and "
     "nothing else does."},
    {"tsd.network.tls.bind", "", "Address of that port; empty: `tsd.network.bind`."},
    {"tsd.network.tls.clients", "none",
     "`none`: clients are not asked for certificates; `optional`: who has one is the user that it "
     "names; `required`: who has none is not listened to."},
    {"tsd.network.tls.authorities", "", "PEM file of the certificates that vouch for clients'."},
    {"tsd.network.tls.revoked", "",
     "PEM file of the lists of certificates that these took back, one of each authority; empty: "
     "none are looked at. Who shows a certificate is refused, too, where the list of its authority "
     "is missing or over. `SIGHUP`: it is read anew, for connections that begin then."},
    {"tsd.limits.client.points", "0",
     "Points a second that one client, a user or else an address, may write on the average, 429 "
     "above; 0: no limit. A batch is taken or refused whole, a second's worth beforehand. Lines "
     "wait."},
    {"tsd.limits.client.series", "0",
     "New series an hour that one client may make; points of others are at fault, 400; 0: no "
     "limit. Embedded store only."},
    {"tsd.limits.metric.points", "0",
     "Points a second that one metric takes, as above; 0: no limit."},
    {"tsd.limits.metric.series", "0",
     "Series that one metric may have; points of others are at fault, 400; 0: no limit. Embedded "
     "store only."},
    {"tsd.storage.hbase.thrift", "127.0.0.1:9090",
     "With `tsd.storage.backend` `hbase`: its Thrift2 gateways, `host:port`, comma separated "
     "(`docs/hbase.md`)."},
    {"tsd.storage.hbase.thrift.transport", "buffered",
     "What they were started with: `buffered`, `framed` (`-f`) or `http`."},
    {"tsd.storage.hbase.thrift.protocol", "binary", "`binary` or `compact` (`-c`)."},
    {"tsd.storage.hbase.thrift.connections", "8", "Connections to each gateway, 1 to 16."},
    {"tsd.storage.hbase.thrift.timeout", "35000",
     "Milliseconds that an answer may take; then the connection is closed."},
    {"tsd.storage.hbase.thrift.deadline", "30000",
     "Milliseconds in which a call is tried again; then it fails, a write with 503."},
    {"tsd.storage.hbase.start_patience", "60000",
     "Milliseconds in which a daemon that starts while HBase is away tries again; then it ends."},
    {"tsd.storage.hbase.create_tables", "true",
     "Tables that are missing are created; `false`: the start fails."},
    {"tsd.storage.hbase.spool.size", "1073741824",
     "Bytes of points that the daemon keeps on its own disk while HBase is away; 503 above. "
     "0: none, points get 503 at once (`docs/hbase.md`)."},
    {"tsd.storage.hbase.spool.path", "",
     "The folder for them; empty: `spool` in `tsd.storage.path`. `tsd.storage.durability` "
     "says when they are answered."},
    {"tsd.storage.hbase.spool.patience", "2000",
     "Milliseconds in which a write of points is tried again before it goes there."},
    {"tsd.memory.limit", "", "Bytes of memory to use; empty: half of the machine or cgroup."},
    {"tsd.query.memory.limit", "",
     "Bytes that all queries may hold, 503 above; empty: a quarter of `tsd.memory.limit`."},
    {"tsd.query.memory.per_query", "",
     "Bytes that one query may hold, 413 above; empty: half of that."},
    {"tsd.query.cache.bytes", "",
     "Bytes of downsampled old hours that are kept for queries that are asked again "
     "(`docs/operations.md`), not over HBase, where others write, too; empty: a twentieth of "
     "`tsd.memory.limit`; 0: none."},
    {"tsd.query.large.concurrent", "", "Large queries at once, others wait; empty: one per core."},
    {"tsd.query.large.waiting", "64", "Large queries that may wait, 503 above."},
    {"tsd.query.large.wait", "60000", "Milliseconds that one waits, 503 then."},
    {"tsd.query.slow_log", "10000", "Milliseconds after which a query is named in the log."},
    {"tsd.core.stop.drain", "0",
     "Milliseconds between a signal to stop and the end of listening: `/readyz` answers 503 "
     "and all else is served on."},
    {"tsd.core.stop.flush", "true",
     "A stop writes memory to files, so that the next start has nothing to replay; `false`: a "
     "quick stop, and a start that reads the log."},
    {"tsd.log.format", "text",
     "How the log's lines on standard error look: `text` or `json` (an object a line: "
     "`time`, `level`, `thread`, `component`, `message`, and the event's fields, which `text` has "
     "as `key=value` behind the message; docs/operations.md)."},
    {"tsd.log.level", "info",
     "The daemon logs lines of that level and above: `debug`, `info`, `warning`, `error`. "
     "`/logs?level=` changes it meanwhile."},
};

}  // namespace

std::span<const KnownSetting> KnownSettings() { return kSettings; }

std::string SettingsTable() {
  std::string out = "| key | default | here |\n| --- | --- | --- |\n";
  for (const KnownSetting& setting : kSettings) {
    out.append("| `").append(setting.key).append("` | ");
    if (!setting.default_value.empty()) out.append("`").append(setting.default_value).append("` ");
    out.append("| ");
    if (setting.no_effect.empty()) {
      out.append(setting.meaning);
    } else {
      out.append("No effect: ").append(setting.no_effect).append(".");
    }
    out.append(" |\n");
  }
  return out;
}

const KnownSetting* FindSetting(std::string_view key) {
  const auto* const found =
      std::find_if(std::begin(kSettings), std::end(kSettings),
                   [&](const KnownSetting& setting) { return setting.key == key; });
  return found == std::end(kSettings) ? nullptr : found;
}

}  // namespace hg::tsd
