#include "tsd/known_settings.h"

#include <algorithm>
#include <iterator>

namespace hg::tsd {
namespace {

constexpr std::string_view kPlugin = "it configures Java plug-ins, which Hourglass cannot load";
constexpr std::string_view kMultiGet = "Hourglass finds the matching series with an index";
constexpr std::string_view kHBase =
    "the daemon reaches HBase through its Thrift2 gateway, `tsd.storage.hbase.thrift`";
constexpr std::string_view kLogging = "the daemon writes its log to standard error";
constexpr std::string_view kService = "the service manager tracks the process";

constexpr KnownSetting Ignored(std::string_view key, std::string_view default_value,
                               std::string_view why) {
  return {key, default_value, {}, why};
}

// First the settings of OpenTSDB, in the order of docs/internals/opentsdb-schema.md §19.2, then
// those of Hourglass. Some defaults differ from OpenTSDB's intentionally.
constexpr KnownSetting kSettings[] = {
    {"tsd.mode", "rw",
     "Mode of the daemon. With `rw`, clients may read and write. With `ro`, clients cannot write "
     "points over HTTP or telnet (they can still delete points by a query and use `/api/admin`), "
     "and the daemon does not open the ports of Graphite and of HBase's "
     "Thrift2 protocol. With `wo`, clients cannot query points over HTTP. Any text except `ro` and "
     "`wo` means `rw`."},
    {"tsd.no_diediedie", "false",
     "The command `diediedie` lets a client stop the daemon. Any text except `false` disables this "
     "command."},

    {"tsd.network.port", "4242",
     "TCP port for HTTP and the telnet protocol. With 0 the daemon uses any free port and logs the "
     "number of the port. OpenTSDB has no default port."},
    {"tsd.network.bind", "127.0.0.1",
     "Address or host name on which the daemon listens. The default of OpenTSDB is `0.0.0.0`."},
    {"tsd.network.backlog", "3072",
     "Maximum number of connections that wait until the daemon accepts them. If more connections "
     "wait, further clients need more time to connect."},
    {"tsd.network.worker_threads", "",
     "Number of network threads. If this setting is empty or 0, there is one network thread per "
     "core. OpenTSDB uses two network threads per core."},
    Ignored("tsd.network.async_io", "true", "network threads are always event loops"),
    {"tsd.network.tcp_no_delay", "true",
     "If `true`, the daemon sets the socket option TCP_NODELAY, so every reply is sent at once. If "
     "`false`, the system may delay small replies and send several replies together."},
    {"tsd.network.keep_alive", "true",
     "If `true`, the operating system checks with TCP keep-alive whether silent clients still "
     "exist."},
    {"tsd.network.reuse_address", "true",
     "If `true`, a daemon can use its port immediately after the previous daemon on this port has "
     "stopped."},

    {"tsd.http.staticroot", "",
     "Folder with the files that the daemon serves under `/s/` and as `/favicon.ico`. If this "
     "setting is empty, the daemon serves only the files of its own web page, and answers 404 for "
     "all other paths under `/s/`. OpenTSDB requires this setting."},
    Ignored("tsd.http.cachedir", "",
            "the daemon draws a plot for each request and stores no plots"),
    Ignored("tsd.http.show_stack_trace", "false", "Hourglass has no stack traces to show"),
    {"tsd.http.query.allow_delete", "false",
     "If `true`, a query with the method `DELETE` or with `method_override=delete` deletes the "
     "rows that it reads. If `false`, the daemon refuses queries with `DELETE`, and queries with "
     "`method_override=delete` delete nothing. As in OpenTSDB, `\"delete\":true` in the body of a "
     "query deletes "
     "with any value of this setting."},
    Ignored("tsd.http.header_tag", "",
            "it has no effect in OpenTSDB either: OpenTSDB reads the HTTP header that the setting "
            "names, but adds no tag to points"),
    {"tsd.http.request.enable_chunked", "true",
     "If `false`, the daemon answers 400 to requests with a chunked body, with a body larger than "
     "8 KiB, or with the header `Expect: 100-continue`. The default of OpenTSDB is `false`."},
    {"tsd.http.request.max_chunk", "67108864",
     "Maximum size of a request body in bytes. The maximum applies to the compressed and to the "
     "uncompressed body. The daemon refuses a larger body with 413 and closes the connection. If "
     "only the uncompressed body of a remote write request (`snappy`) is too large, the "
     "connection stays open. The default of OpenTSDB is `4096`."},
    {"tsd.http.request.hosts", "",
     "Host names by which clients may address the daemon, separated by commas, without ports. "
     "`localhost` and IP addresses are always allowed. The value `*` allows any name. The daemon "
     "refuses all other host names with 403 on each port that has a loopback address and, if this "
     "setting is not empty, on all ports."},
    {"tsd.http.request.cors_domains", "",
     "Origins (scheme, host and port) whose web pages may call the daemon, separated by commas. "
     "The value `*` alone allows all origins. If this setting is empty, CORS is off."},
    {"tsd.http.request.cors_headers",
     "Authorization, Content-Type, Accept, Origin, User-Agent, DNT, Cache-Control, X-Mx-ReqToken, "
     "Keep-Alive, X-Requested-With, If-Modified-Since",
     "Value of the response header `Access-Control-Allow-Headers`."},
    Ignored("tsd.http.rpc.plugins", "", kPlugin),
    {"tsd.gnuplot.options.allowlist", ";axis x1y2",
     "Values that the parameter `o=` of `/q` may have, separated by semicolons. Only `axis x1y2` "
     "has an effect."},

    {"tsd.core.auto_create_metrics", "false",
     "If `true`, a new metric gets an id when its first point is written. If `false`, the daemon "
     "refuses points of new metrics. The script `./run` sets `true`."},
    {"tsd.core.auto_create_tagks", "true",
     "If `true`, a new tag key gets an id when its first point is written. If `false`, the daemon "
     "refuses points with new tag keys."},
    {"tsd.core.auto_create_tagvs", "true",
     "If `true`, a new tag value gets an id when its first point is written. If `false`, the "
     "daemon refuses points with new tag values."},
    {"tsd.core.authentication.enable", "false",
     "If `true`, every client must authenticate and may do only what the roles of its user allow "
     "(see [security](security.md)). The daemon starts with `true` only if "
     "`tsd.core.authentication.users` is set. `0`, `false`, `no`, `off` and an empty value turn "
     "authentication off. The daemon does not start with any other value that does not mean true."},
    Ignored("tsd.core.authentication.plugin", "",
            "the daemon has its own authentication (`tsd.core.authentication.users`)"),
    {"tsd.core.bulk.allow_out_of_order_timestamps", "false",
     "If `true`, the command `import` accepts the points of a series in any order. If `false`, the "
     "points of a series must be in ascending order of time."},
    {"tsd.core.connections.limit", "0",
     "Maximum number of open HTTP and telnet connections. The daemon closes connections above this "
     "number at once. "
     "With 0, only the number of files that the process may open limits the connections."},
    {"tsd.core.enable_api", "true",
     "Any text except `true` disables all paths under `/api` and the paths of other products, such "
     "as `/write`. The disabled paths answer 404."},
    {"tsd.core.enable_ui", "true",
     "Any text except `true` disables the web page and OpenTSDB's paths outside `/api`, such as "
     "`/q`. The disabled paths answer 404. `/healthz`, `/readyz` and `/metrics` stay enabled."},
    {"tsd.core.histograms.config", "",
     "Enables histograms. The value is the JSON object "
     "`{\"net.opentsdb.core.SimpleHistogramDecoder\":ID}` or the path of a file with this object; "
     "the path must end in `.json`. The daemon stores histograms with the id ID, a number from 0 "
     "to 255. If this setting is empty, histograms are off."},
    {"tsd.core.meta.enable_realtime_ts", "false",
     "If both this setting and `tsd.core.meta.enable_tsuid_tracking` are `true`, the daemon stores "
     "a TSMeta object for each new series."},
    {"tsd.core.meta.enable_realtime_uid", "false",
     "If `true`, the daemon stores a UIDMeta object for each new name."},
    {"tsd.core.meta.enable_tsuid_incrementing", "false",
     "If this setting, `tsd.core.meta.enable_tsuid_tracking` and "
     "`tsd.core.meta.enable_realtime_ts` are all `true`, the daemon counts the points of each "
     "series."},
    {"tsd.core.meta.enable_tsuid_tracking", "false",
     "If `true`, the daemon records each written series in the meta table. With `true`, "
     "`/api/query/last` reads the meta table."},
    Ignored("tsd.core.meta.cache.enable", "false", kPlugin),
    Ignored("tsd.core.meta.cache.plugin", "", kPlugin),
    Ignored("tsd.core.plugin_path", "", kPlugin),
    {"tsd.core.preload_uid_cache", "false",
     "If `true`, the daemon reads names and ids into its cache at its start."},
    {"tsd.core.preload_uid_cache.max_entries", "300000",
     "Maximum number of rows that the daemon reads from the table of ids at its start, if "
     "`tsd.core.preload_uid_cache` is `true`."},
    Ignored("tsd.core.response.async", "true", "responses are always sent asynchronously"),
    {"tsd.core.response.worker.num", "10",
     "Number of threads that handle requests other than writes of `/api/put`, InfluxDB's line "
     "protocol and telnet. If all these "
     "threads are busy, requests wait for a thread. Large queries, and writes that take longer "
     "than "
     "50 ms, have threads of their own."},
    {"tsd.core.socket.timeout", "0",
     "Time in seconds after which the daemon closes a connection that sends nothing. 0 means "
     "never."},
    {"tsd.core.stats_with_port", "false",
     "If `true`, the statistics of the daemon have the tag `port`."},
    Ignored("tsd.core.storage_exception_handler.enable", "false", kPlugin),
    Ignored("tsd.core.storage_exception_handler.plugin", "", kPlugin),
    {"tsd.core.tag.allow_specialchars", "",
     "Additional characters that metrics, tag keys and tag values may contain."},
    {"tsd.core.timezone", "",
     "Time zone of dates in queries, for example `Europe/Berlin`. If this setting is empty, the "
     "daemon uses the time zone of its process."},
    {"tsd.core.tree.enable_processing", "false",
     "If `true`, the daemon adds each new series to the trees when it stores the series for the "
     "first time. The daemon ignores this setting unless `tsd.core.meta.enable_tsuid_tracking` and "
     "`tsd.core.meta.enable_realtime_ts` are both `true`."},
    {"tsd.core.uid.random_metrics", "false",
     "If `true`, new metrics get random ids. If `false`, new metrics get consecutive ids."},
    Ignored("tsd.core.flushinterval", "", "OpenTSDB does not read it either"),

    {"tsd.query.allow_simultaneous_duplicates", "true",
     "If `false`, the daemon refuses a query while an equal query of the same client is running."},
    {"tsd.query.enable_fuzzy_filter", "true",
     "If `true`, a query with `explicitTags` and lists of values for several tag keys misses some "
     "combinations of the values, as with OpenTSDB's row filter. If `false`, the result of such a "
     "query is complete."},
    {"tsd.query.filter.expansion_limit", "4096",
     "Maximum number of values of a `literal_or` filter that the daemon looks up as ids. If a "
     "filter has more values, the daemon compares the names of the stored series instead. Values "
     "of such a filter that do not exist are ignored."},
    {"tsd.query.limits.bytes.default", "0",
     "Maximum number of bytes that one sub-query may read. The daemon checks the limit before "
     "each batch of rows (`tsd.storage.hbase.scanner.maxNumRows`). If the sub-query has already "
     "read more bytes, the query ends with 413. The limit does not apply to PromQL, remote read "
     "and `/api/query/last`. 0 means no limit."},
    {"tsd.query.limits.bytes.allow_override", "false",
     "If `true`, a client may set `overrideByteLimit` in the body of a query to lift "
     "`tsd.query.limits.bytes.default`."},
    {"tsd.query.limits.data_points.default", "0",
     "Maximum number of cells that one sub-query may read. A cell is a point or several points "
     "that are stored together. The daemon checks the limit in the same way as "
     "`tsd.query.limits.bytes.default`, and for the same queries. If the sub-query has already "
     "read this number of cells, the query ends with 413. 0 means no limit."},
    {"tsd.query.limits.data_points.allow_override", "false",
     "If `true`, a client may set `overrideDataPointLimit` in the body of a query to lift "
     "`tsd.query.limits.data_points.default`."},
    {"tsd.query.limits.overrides.config", "",
     "Limits on the bytes and cells that one sub-query may read, for metrics whose names contain a "
     "match of a regular expression. The value is the path of a JSON file with an array, or the "
     "JSON array itself. The array has the form `[{\"regex\":\"^sys\", \"byteLimit\":1000000, "
     "\"dataPointsLimit\":100000}]`. If this setting is empty, the limits "
     "`tsd.query.limits.*.default` apply to all metrics."},
    {"tsd.query.limits.overrides.interval", "60000",
     "Time in seconds after which the daemon reads the file `tsd.query.limits.overrides.config` "
     "again."},
    Ignored("tsd.query.multi_get.enable", "false", kMultiGet),
    Ignored("tsd.query.multi_get.limit", "131072", kMultiGet),
    Ignored("tsd.query.multi_get.batch_size", "1024", kMultiGet),
    Ignored("tsd.query.multi_get.concurrent", "20", kMultiGet),
    Ignored("tsd.query.multi_get.get_all_salts", "false", kMultiGet),
    {"tsd.query.skip_unresolved_tagvs", "false",
     "If `true`, a `literal_or` filter ignores tag values that do not exist. If `false`, the "
     "daemon refuses a query whose `literal_or` filter contains a tag value that does not exist. "
     "A filter with more values than `tsd.query.filter.expansion_limit` always ignores such tag "
     "values."},
    {"tsd.query.timeout", "300000",
     "Maximum duration of a request in milliseconds. A request that takes longer ends with 413, or "
     "with 503 if it is a write or a PromQL query. "
     "The "
     "time to send the response does not count, unless large queries wait for its memory. 0 means "
     "no limit."},

    Ignored("tsd.rpc.plugins", "", kPlugin),
    {"tsd.rpc.telnet.return_errors", "true",
     "If `false`, the daemon does not report errors of the store to telnet clients. With either "
     "value, the daemon reports `put` lines that are not valid, names that do not exist, and new "
     "series that it refuses."},
    Ignored("tsd.rtpublisher.enable", "false", kPlugin),
    Ignored("tsd.rtpublisher.plugin", "", kPlugin),
    Ignored("tsd.search.enable", "false", kPlugin),
    Ignored("tsd.search.plugin", "", kPlugin),
    Ignored("tsd.startup.enable", "false", kPlugin),
    Ignored("tsd.startup.plugin", "", kPlugin),
    {"tsd.stats.canonical", "false",
     "If `true`, the statistics of the daemon have the tag `fqdn` instead of the tag `host`."},

    {"tsd.rollups.enable", "false",
     "If `true`, clients can write and query rollups and pre-aggregates. The daemon starts with "
     "`true` only if `tsd.rollups.config` is set."},
    {"tsd.rollups.config", "",
     "Intervals and tables of the rollups: a JSON document, or the path of a file that contains "
     "the document; the path must end in `.json`."},
    {"tsd.rollups.automatic", "false",
     "If `true`, the daemon computes the rollups from the points and keeps them correct when "
     "points change (see [rollups](rollups.md)). Automatic rollups work with the embedded store "
     "only."},
    {"tsd.rollups.automatic.delay", "600",
     "Time in seconds between the end of an interval and the computation of its rollups. If a "
     "point arrives late, but before the end of the delay, the daemon does not compute the rollups "
     "a second time."},
    {"tsd.rollups.tag_raw", "false",
     "If `true`, not only pre-aggregates but also rollups of a single series get the tag whose key "
     "is the value of `tsd.rollups.agg_tag_key`."},
    {"tsd.rollups.agg_tag_key", "_aggregate",
     "Key of the tag that names the aggregator of a pre-aggregate."},
    {"tsd.rollups.raw_agg_tag_value", "RAW",
     "Value of the tag that `tsd.rollups.agg_tag_key` names, for data that is not pre-aggregated."},
    {"tsd.rollups.block_derived", "true",
     "If `true`, the daemon refuses pre-aggregates with the aggregators `avg` and `dev`."},
    {"tsd.rollups.split_query.enable", "false",
     "The value `delaySla` in `tsd.rollups.config` is the time for which the newest rollups may be "
     "missing. If this setting is `true`, a query reads raw points for the last `delaySla` before "
     "now, and rollups for all earlier times."},

    {"tsd.storage.hbase.data_table", "tsdb", "Name of the table of points."},
    {"tsd.storage.hbase.uid_table", "tsdb-uid", "Name of the table of names and ids."},
    {"tsd.storage.hbase.tree_table", "tsdb-tree", "Name of the table of trees."},
    {"tsd.storage.hbase.meta_table", "tsdb-meta", "Name of the table of series metadata."},
    Ignored("tsd.storage.hbase.zk_quorum", "localhost", kHBase),
    Ignored("tsd.storage.hbase.zk_basedir", "/hbase", kHBase),
    Ignored("tsd.storage.hbase.prefetch_meta", "false", kHBase),
    {"tsd.storage.hbase.scanner.maxNumRows", "128",
     "Number of rows that a query reads between two checks of its limits."},
    Ignored("tsd.storage.flush_interval", "1000",
            "the daemon does not delay writes (see `tsd.storage.durability`)"),
    {"tsd.storage.enable_compaction", "true",
     "If `true`, a row of points becomes one cell after its hour is over (OpenTSDB's row "
     "compaction). Clients that read cells then get one cell for the row, and the daemon rewrites "
     "stored rows where necessary. If `false`, row compaction only repairs rows with cells of "
     "OpenTSDB's append mode."},
    {"tsd.storage.compaction.flush_interval", "10",
     "Time in seconds between two rounds of row compaction. A round rewrites rows whose hour is "
     "over. This setting applies to HBase only, because the embedded store needs no rounds."},
    {"tsd.storage.compaction.min_flush_threshold", "100",
     "A round of row compaction starts only if more than this number of rows wait. A round can "
     "rewrite this number of rows even if `tsd.storage.compaction.flush_speed` allows fewer rows. "
     "This setting applies to HBase only."},
    {"tsd.storage.compaction.max_concurrent_flushes", "10000",
     "Maximum number of rows that one round of row compaction rewrites. Values above 10000 count "
     "as 10000. This setting applies to HBase only."},
    {"tsd.storage.compaction.flush_speed", "2",
     "Speed of row compaction. With 1 the daemon compacts all waiting rows within an hour, and "
     "with 2 within half an hour. This setting applies to HBase only."},
    {"tsd.storage.enable_appends", "false",
     "If `true`, the daemon appends all points of a row to one cell of this row."},
    {"tsd.storage.repair_appends", "false",
     "If `true`, a read rewrites a cell of the append mode (`tsd.storage.enable_appends`) whose "
     "points are not in order."},
    {"tsd.storage.fix_duplicates", "false",
     "This setting affects series that have different values for the same time. If `true`, a query "
     "uses the value that was written last. If `false`, which is OpenTSDB's default, a query fails "
     "if it reads two values of the same time in different formats (see "
     "[duplicates](ingestion.md#duplicates)). `./run`, the Debian package and the container set "
     "this setting to `true`."},
    {"tsd.storage.max_tags", "8",
     "Maximum number of tags of a series that is written over OpenTSDB's protocols (put, telnet, "
     "`tsdb import`). The daemon refuses a point with more tags. `tsd.ingest.max_tags` is the "
     "limit for all other protocols."},
    {"tsd.storage.salt.width", "0",
     "Number of salt bytes in front of each row key. 0 means no salt. You cannot change this "
     "setting once the store contains data."},
    {"tsd.storage.salt.buckets", "20",
     "Number of different salt values. You cannot change this setting once the store contains "
     "data."},
    {"tsd.storage.uid.width.metric", "3",
     "Number of bytes of the id of a metric. You cannot change this setting once the store "
     "contains data."},
    {"tsd.storage.uid.width.tagk", "3",
     "Number of bytes of the id of a tag key. You cannot change this setting once the store "
     "contains data."},
    {"tsd.storage.uid.width.tagv", "3",
     "Number of bytes of the id of a tag value. You cannot change this setting once the store "
     "contains data."},
    {"tsd.storage.use_otsdb_timestamp", "false",
     "If `true`, each cell gets the time of its point instead of the time of writing. If a series "
     "has two values for one time, queries use the larger value (see "
     "`tsd.storage.use_max_value`)."},
    {"tsd.storage.use_max_value", "true",
     "This setting applies only if `tsd.storage.use_otsdb_timestamp` is `true`. If a series has "
     "two values for one time, queries use the larger value with `true` and the smaller value with "
     "`false`."},
    Ignored("tsd.storage.get_date_tiered_compaction_start", "0",
            "scans do not need the times of cells to find their rows"),

    Ignored("tsd.timeseriesfilter.enable", "false", kPlugin),
    Ignored("tsd.timeseriesfilter.plugin", "", kPlugin),
    {"tsd.uidfilter.enable", "false",
     "If `true`, the filter `tsd.uidfilter.plugin` decides whether a new name gets an id."},
    {"tsd.uidfilter.plugin", "",
     "Class name of the filter for new names. The daemon reads this setting only if "
     "`tsd.uidfilter.enable` is `true`. The only supported class is "
     "`net.opentsdb.uid.UniqueIdWhitelistFilter`. With another class the daemon does not start."},
    {"tsd.uidfilter.whitelist.delimiter", ",",
     "Regular expression for the text that separates the patterns in the lists "
     "`tsd.uidfilter.whitelist.*_patterns`. The daemon reads this setting only if "
     "`tsd.uidfilter.enable` is `true`."},
    {"tsd.uidfilter.whitelist.metric_patterns", "",
     "List of regular expressions. If `tsd.uidfilter.enable` is `true`, a new metric gets an id "
     "only if the name of the metric contains a match for each expression of the list. If the "
     "list is empty, any metric gets an id."},
    {"tsd.uidfilter.whitelist.tagk_patterns", "",
     "List of regular expressions. If `tsd.uidfilter.enable` is `true`, a new tag key gets an id "
     "only if it contains a match for each expression of the list. If the list is empty, any tag "
     "key gets an id."},
    {"tsd.uidfilter.whitelist.tagv_patterns", "",
     "List of regular expressions. If `tsd.uidfilter.enable` is `true`, a new tag value gets an "
     "id only if it contains a match for each expression of the list. If the list is empty, any "
     "tag value gets an id."},
    {"tsd.uid.use_mode", "false",
     "If `true`, the caches of names and ids depend on `tsd.mode`: with `ro` the daemon caches "
     "only names by id, and with `wo` the daemon caches only ids by name."},
    {"tsd.uid.lru.enable", "false",
     "If `true`, the settings `tsd.uid.lru.name.size` and `tsd.uid.lru.id.size` limit the caches "
     "of names and ids. If `false`, only `tsd.memory.limit` limits the caches of names and ids."},
    {"tsd.uid.lru.name.size", "5000000",
     "Maximum number of entries in each cache of names by id. There is one cache for metrics, one "
     "for tag keys and one for tag values. If a cache is full, the daemon removes the least "
     "recently used entries."},
    {"tsd.uid.lru.id.size", "5000000",
     "Maximum number of entries in each cache of ids by name. There is one cache for metrics, one "
     "for tag keys and one for tag values. If a cache is full, the daemon removes the least "
     "recently used entries."},

    // Settings that only the single-JAR build (fat JAR) of OpenTSDB has.
    Ignored("tsd.logback.file", "", kLogging),
    Ignored("tsd.logback.rollpattern", "", kLogging),
    Ignored("tsd.logback.console", "", kLogging),
    Ignored("tsd.logback.config", "", kLogging),
    Ignored("tsd.process.pid.file", "", kService),
    Ignored("tsd.process.pid.ignore.existing", "", kService),
    Ignored("tsd.ui.noexport", "", "the user interface is part of the program"),
    Ignored("tsd.core.config", "", "the option `--config` names the file with the settings"),
    Ignored("tsd.core.config.include", "", "all settings are in one file"),

    // Settings of Hourglass.
    {"tsd.storage.backend", "embedded",
     "Place where the daemon stores its data. With `embedded`, the daemon stores its data in the "
     "data directory `tsd.storage.path`. With `hbase`, the daemon stores its data in the tables of "
     "an HBase cluster (see [HBase](hbase.md))."},
    {"tsd.storage.path", "data", "Path of the data directory."},
    {"tsd.storage.durability", "logged",
     "Safety of a write that the daemon has acknowledged. With `synced`, the daemon has written "
     "the log to the disk (fdatasync), and the write survives a power failure. With `logged`, the "
     "log file contains the write, and the write survives the end of the process. The daemon then "
     "syncs the log to the disk in the background. With `buffered`, the write is in memory and "
     "reaches the log file within a second. With `none`, the daemon does not log points, and "
     "points that are not flushed to files are lost when the process is killed."},
    {"tsd.storage.sync_interval", "1000",
     "Time in milliseconds between two syncs of the log in the background. If "
     "`tsd.storage.durability` is `buffered`, the time is at most 1000."},
    {"tsd.storage.log.max", "536870912",
     "Size of the log in bytes at which the daemon flushes its memory to files."},
    {"tsd.storage.ttl", "",
     "Time in seconds for which the store keeps a point, counted from the time of the point (HBase "
     "counts from the time of writing). Annotations and histograms are removed when their whole "
     "hour has expired. The store removes a file whose content has expired completely, without "
     "reading the file. `0` means that the store keeps points for ever. If this setting is empty, "
     "the `TTL` attribute of the table applies. In a new table, the `TTL` attribute is `FOREVER`."},
    {"tsd.retention.config", "",
     "Rules for how long points are kept: the path of a JSON file, or the JSON array itself. "
     "Example: `[{\"metric\": \"sys.*\", \"tags\": {\"host\": \"web*\"}, \"keep\": \"30d\"}]` (see "
     "[retention](retention.md)). If this setting is empty, all points are kept."},
    {"tsd.retention.interval", "3600",
     "Time in seconds between two rounds in which the daemon deletes points by the rules of "
     "`tsd.retention.config`."},
    {"tsd.storage.memstore.percent", "40",
     "Share of `tsd.memory.limit`, in percent, for points that are not flushed yet, for names and "
     "for series. While the memory for unflushed points, names and series is full, writes get "
     "503."},
    {"tsd.storage.block_cache.percent", "15",
     "Share of `tsd.memory.limit`, in percent, for the cache of uncompressed file blocks. 0 means "
     "no cache. The sum of this setting and `tsd.storage.memstore.percent` must not exceed 80, "
     "because queries need the rest."},
    {"tsd.storage.region.split_policy", "stepping",
     "Rule that decides when a region is split in two. `stepping`: while a table has one region, "
     "this region is split at twice `tsd.storage.region.flush_size`; if a table has several "
     "regions, each region is split at `tsd.storage.region.max_size`. `constant`: each region is "
     "split at `tsd.storage.region.max_size`. `increasing`: a region is split at the size 2 · R³ · "
     "`tsd.storage.region.flush_size`, where R is the number of regions of its table, but not "
     "later than at `tsd.storage.region.max_size`. `increasing2`: like `increasing`, but a region "
     "is split at the size R² · `tsd.storage.region.flush_size`. `none`: regions are never split "
     "automatically. A table can have a split policy of its own (`tsdb table alter "
     "--split-policy`)."},
    {"tsd.storage.region.max_size", "10737418240",
     "Maximum size in bytes of the files of a region. A larger region is split. For each region, "
     "the actual limit differs at random from this value by up to an eighth."},
    {"tsd.storage.region.flush_size", "134217728",
     "Size in bytes that `tsd.storage.region.split_policy` uses. This setting does not control "
     "flushes."},
    {"tsd.storage.merge.throughput", "52428800",
     "Number of bytes per second that all background merges together may write. The rate rises up "
     "to twice this value if a region has many files. The rate is not limited while flushes wait "
     "for merges. 0 means no limit."},
    {"tsd.storage.merge.large", "2684354560",
     "Size in bytes above which a merge runs on a second thread, so that smaller merges do not "
     "wait for the large merge."},
    {"tsd.storage.merge.off_peak", "",
     "Hours of the day in UTC with little load, for example `22-6`. During these hours the daemon "
     "merges even files whose sizes differ too much for a merge in the rest of the day. If this "
     "setting is empty, the daemon merges in the same way at all hours."},
    {"tsd.storage.merge.major_period", "604800",
     "Time in seconds after which the daemon merges files that contain tombstones, in order to "
     "remove the deleted data. The time begins when the store writes the oldest file of the merge. "
     "The actual time differs at random from this value by up to a half. With 0, tombstones alone "
     "cause no merge."},
    {"tsd.storage.merge.interval", "60",
     "Time in seconds between two checks for background work: files to merge, expired files to "
     "remove, and regions to split. In addition, the daemon checks for background work after each "
     "flush."},
    {"tsd.http.query.omit_nan", "false",
     "Fill policies and arithmetic can produce NaN. If this setting is `true`, responses of "
     "`/api/query` omit NaN. If `false`, the responses contain NaN as the text `\"NaN\"`, or as "
     "`null` if the query has the fill policy `null` (see [Grafana](grafana.md))."},
    {"tsd.http.lookup.distinct_first", "false",
     "If `true`, a request to `/api/search/lookup` with a limit returns first the series whose tag "
     "values are not in the response yet, and then all other series (see [Grafana](grafana.md))."},
    {"tsd.http.admin.remote", "false",
     "If `true`, clients on other machines may use `/api/admin`. If `false`, only clients on the "
     "machine of the daemon may use `/api/admin`."},
    {"tsd.ingest.default_tag", "source=unknown",
     "Tag, as `KEY=VALUE`, that the daemon adds to points without tags, because every series needs "
     "a tag. The daemon adds the tag to points of all protocols except those of OpenTSDB (see "
     "[ingestion](ingestion.md))."},
    {"tsd.ingest.influx.separator", ".",
     "Character between measurement and field in the metric of a field of InfluxDB's line "
     "protocol: `.` or `_`. The line `cpu user=1` writes the metric `cpu.user` or `cpu_user`. A "
     "change applies only to points that are written after the change; stored metrics keep their "
     "names."},
    {"tsd.ingest.max_tags", "40",
     "Maximum number of tags (labels, attributes) of a series that is written over Prometheus "
     "remote write, OTLP, InfluxDB's line protocol, Graphite or `tsdb import --csv`. The daemon "
     "refuses a point with more tags."},
    {"tsd.prometheus.underscore_names", "false",
     "If `true`, PromQL and remote read show and find the metric `room.temp` as `room_temp`, so "
     "that queries need no quotes (see [PromQL](promql.md#metrics-with-other-characters))."},
    {"tsd.graphite.port", "",
     "Port for Graphite's plaintext protocol, usually 2003, at the address `tsd.network.bind`. If "
     "this setting is empty, the daemon opens no port for plaintext lines. With 0 the daemon uses "
     "any free port and logs the number of the port."},
    {"tsd.graphite.pickle.port", "",
     "Port for Graphite's pickle protocol, usually 2004, at the address `tsd.network.bind`. If "
     "this setting is empty, the daemon opens no port for pickled points. With 0 the daemon uses "
     "any free port and logs the number of the port."},
    {"tsd.graphite.anonymous", "false",
     "Graphite clients cannot authenticate. If this setting is `true`, everybody may write to the "
     "Graphite ports, even with authentication on. If `false`, the daemon does not start with a "
     "Graphite port while authentication is on or `tsd.network.tls.clients` is `required`."},
    {"tsd.thrift2.port", "",
     "Port on which the embedded store speaks HBase's Thrift2 protocol, usually 9090, for HBase "
     "clients and for daemons that share the store (see [The shared store](shared-store.md)). If "
     "this setting is empty, the Thrift2 protocol is off. With 0 the daemon uses any free port and "
     "logs the number of the port. A read-only daemon does not open the Thrift2 port."},
    {"tsd.thrift2.bind", "127.0.0.1",
     "Address of `tsd.thrift2.port`. The Thrift2 protocol has no authentication and no encryption: "
     "every client that reaches this port may read, write and delete everything. The log contains "
     "a warning if the address is not a loopback address."},
    {"tsd.core.authentication.users", "",
     "Path of the file with the users, their roles, and hashes of their passwords and tokens. The "
     "command `tsdb user` writes the user file. The daemon reads the user file again on the signal "
     "`SIGHUP`. If the new file has a mistake, the daemon logs the mistake and keeps the previous "
     "users. If this setting is not empty while authentication is off, the daemon logs a warning."},
    {"tsd.network.tls.certificate", "",
     "Path of the PEM file with the certificate of the daemon, followed by the certificates of its "
     "authorities. If this setting is not empty, HTTP and the telnet protocol use TLS 1.2 or later "
     "(see [security](security.md)). The daemon reads the file again for new connections on the "
     "signal `SIGHUP`."},
    {"tsd.network.tls.key", "",
     "Path of the PEM file with the private key of the certificate. The key must not have a "
     "passphrase."},
    {"tsd.network.tls.port", "",
     "Separate port for TLS. If TLS is on (`tsd.network.tls.certificate`) and this setting is "
     "empty, `tsd.network.port` uses TLS, and HTTP and the telnet protocol have no port without "
     "TLS."},
    {"tsd.network.tls.bind", "",
     "Address on which the daemon opens the port `tsd.network.tls.port`. If this setting is empty, "
     "the daemon uses the address `tsd.network.bind`."},
    {"tsd.network.tls.clients", "none",
     "Whether clients need a certificate. With `none`, the daemon does not ask for a certificate. "
     "With `optional`, clients may connect with or without a certificate. If authentication is on, "
     "a valid certificate authenticates the user that the certificate names. With `required`, the "
     "daemon refuses clients without a certificate."},
    {"tsd.network.tls.authorities", "",
     "Path of the PEM file with the certificates of the authorities that sign client "
     "certificates."},
    {"tsd.network.tls.revoked", "",
     "Path of the PEM file with certificate revocation lists (CRL), one for each authority in "
     "`tsd.network.tls.authorities`. The daemon refuses a client certificate if the list of its "
     "authority is missing or expired. If this setting is empty, the daemon does not check for "
     "revocation. The daemon reads the file again for new connections on the signal `SIGHUP`."},
    {"tsd.limits.client.points", "0",
     "Average number of points per second that one client may write. A client is a user or, if "
     "the client is not authenticated, an IP address. The daemon accepts or refuses a batch as a "
     "whole, and allows a burst of one second. While the average is above the limit, the daemon "
     "refuses batches with 429, and telnet lines wait. 0 means no limit."},
    {"tsd.limits.client.series", "0",
     "Number of new series per hour that one client may create. If a client creates more new "
     "series, the daemon refuses their points and annotations with 400 (OpenTelemetry: 200 with "
     "`partialSuccess`). 0 means no limit. This limit works with the embedded store only."},
    {"tsd.limits.metric.points", "0",
     "Average number of points per second that all clients together may write to one metric. The "
     "daemon enforces this limit in the same way as `tsd.limits.client.points`. 0 means no limit."},
    {"tsd.limits.metric.series", "0",
     "Maximum number of series of one metric. If a metric has this number of series, the daemon "
     "refuses points and annotations of new series of the metric with 400 (OpenTelemetry: 200 "
     "with `partialSuccess`). 0 means no limit. This limit works with the embedded store only."},
    {"tsd.storage.hbase.thrift", "127.0.0.1:9090",
     "Addresses of HBase's Thrift2 gateways in the form `host:port`, separated by commas. The "
     "daemon uses the gateways if `tsd.storage.backend` is `hbase` (see [HBase](hbase.md))."},
    {"tsd.storage.hbase.thrift.transport", "buffered",
     "Transport with which the gateways were started: `buffered`, `framed` (option `-f` of the "
     "gateways) or `http`."},
    {"tsd.storage.hbase.thrift.protocol", "binary",
     "Protocol with which the gateways were started: `binary` or `compact` (option `-c` of the "
     "gateways)."},
    {"tsd.storage.hbase.thrift.connections", "8",
     "Maximum number of connections to each gateway, from 1 to 16."},
    {"tsd.storage.hbase.thrift.timeout", "35000",
     "Time in milliseconds for which the daemon waits for a response of a gateway. If no response "
     "arrives within this time, the daemon closes the connection."},
    {"tsd.storage.hbase.thrift.deadline", "30000",
     "Time in milliseconds for which the daemon repeats a failed call to HBase. If the call has "
     "not succeeded within this time, the request that needs the call fails. A query to "
     "`/api/query` then gets 424, or 503 if HBase was only busy. Writes over HTTP and PromQL "
     "queries get 503."},
    {"tsd.storage.hbase.start_patience", "60000",
     "Time in milliseconds for which a starting daemon tries to reach HBase. If the daemon cannot "
     "reach HBase within this time, it exits with an error."},
    {"tsd.storage.hbase.create_tables", "true",
     "If `true`, the daemon creates missing tables in HBase. If `false` and a table is missing, "
     "the daemon does not start."},
    {"tsd.storage.hbase.spool.size", "1073741824",
     "Maximum size of the spool in bytes. The spool is a log on the daemon's own disk that keeps "
     "points while HBase is unavailable (see [HBase](hbase.md)). While the spool is full, writes "
     "get 503. With 0 there is no spool, and writes get 503 while HBase is unavailable."},
    {"tsd.storage.hbase.spool.path", "",
     "Folder of the spool. If this setting is empty, the daemon uses the folder `spool` in "
     "`tsd.storage.path`. The setting `tsd.storage.durability` says when the daemon acknowledges "
     "points in the spool."},
    {"tsd.storage.hbase.spool.patience", "2000",
     "Time in milliseconds for which a write of points waits for HBase. If HBase has not stored "
     "the points within this time, the daemon writes the points to the spool."},
    {"tsd.memory.limit", "",
     "Memory in bytes that the daemon divides between unflushed points, caches and queries. If "
     "this setting is empty, the daemon uses half of the memory of the machine or its control "
     "group (cgroup)."},
    {"tsd.query.memory.limit", "",
     "Maximum memory in bytes of all queries together. A query that needs more memory than is left "
     "ends with 503. If this setting is empty, the limit is a quarter of `tsd.memory.limit`. 0 "
     "means no limit."},
    {"tsd.query.memory.per_query", "",
     "Maximum memory in bytes of one query. A query that needs more memory ends with 413, or with "
     "422 if it is of PromQL. If this "
     "setting is empty, the limit is half of `tsd.query.memory.limit`. 0 means no limit."},
    {"tsd.query.cache.bytes", "",
     "Memory in bytes for the query cache, which keeps the downsampled hours of repeated queries "
     "(see [operations](operations.md)). The daemon does not use the query cache over HBase. If "
     "this setting is empty, the query cache has a twentieth of `tsd.memory.limit`. 0 means no "
     "query cache."},
    {"tsd.query.large.concurrent", "",
     "Maximum number of large queries that run at the same time. A query is large if it has read "
     "many rows or holds much memory. Large queries above this number wait. A client that runs no "
     "large query may start one above this number, until twice this number of large queries run. "
     "If this setting is empty, the limit is one large query per core. 0 means no limit."},
    {"tsd.query.large.waiting", "64",
     "Maximum number of large queries that wait. For each large query above this number, the "
     "daemon answers one large query with 503: a query of the client with the most waiting "
     "queries."},
    {"tsd.query.large.wait", "60000",
     "Time in milliseconds for which a large query waits for other large queries. If a large query "
     "still waits after this time, the daemon refuses the query with 503."},
    {"tsd.query.slow_log", "10000",
     "The daemon logs a query as slow if the query takes at least this time in milliseconds. With "
     "0, the daemon logs no query as slow."},
    {"tsd.core.stop.drain", "0",
     "Time in milliseconds between the signal to stop and the closing of the ports. Until the "
     "ports are closed, `/readyz` answers 503, and the daemon serves all other requests."},
    {"tsd.core.stop.flush", "true",
     "If `true`, the daemon writes its memory to files when it stops, so the next start has no log "
     "to replay. If `false`, the daemon stops faster, and the next start replays the log."},
    {"tsd.log.format", "text",
     "Format of the log on standard error. With `text`, each event is one line: a message followed "
     "by its fields as `key=value`. With `json`, each event is one JSON object with `time`, "
     "`level`, `thread`, `component`, `message` and the fields of the event (see "
     "[operations](operations.md))."},
    {"tsd.log.level", "info",
     "Lowest level of events that are logged: `debug`, `info`, `warning` or `error`. A client can "
     "change the level with `/logs?level=` while the daemon runs."},
};

}  // namespace

std::span<const KnownSetting> KnownSettings() { return kSettings; }

std::string SettingsTable() {
  std::string out = "| key | default | meaning |\n| --- | --- | --- |\n";
  for (const KnownSetting& setting : kSettings) {
    out.append("| `").append(setting.key).append("` | ");
    if (!setting.default_value.empty()) out.append("`").append(setting.default_value).append("` ");
    out.append("| ");
    if (setting.no_effect.empty()) {
      out.append(setting.meaning);
    } else {
      out.append("This setting has no effect, because ").append(setting.no_effect).append(".");
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
