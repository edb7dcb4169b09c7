#pragma once
// The handlers of the endpoints; http/routes/endpoints.cc maps paths to them. Each one sends
// exactly one response, also for failures. It may block unless the table says Where::kLoop. "GET",
// "POST" and so on are the methods that a handler serves. http/api/README.md lists paths and files.

#include "http/request/services.h"

namespace hg::http {

// Writes of OpenTSDB's clients.

/// The slow path of /api/put (opentsdb-http-api.md §8): all rules and error messages. The
/// connection first tries the fast path (http/wire/put_json.h) and uses this handler for other
/// bodies. POST.
void HandlePut(const Request& request, Services& services, ResponseWriter& out);
/// /api/rollup (opentsdb-http-api.md §9.1): reads the document of /api/put and checks the rollup
/// fields, too. If rollups are not configured, it refuses each point after these checks. POST.
void HandleRollup(const Request& request, Services& services, ResponseWriter& out);
/// /api/histogram (opentsdb-http-api.md §9.2). POST. If histograms are not enabled: 503 for any
/// method.
void HandleHistogram(const Request& request, Services& services, ResponseWriter& out);

// Queries of OpenTSDB (opentsdb-http-api.md §10 to §13, §19.2).

/// /api/query. The third segment of the path selects one of the three handlers that follow.
void HandleQuery(const Request& request, Services& services, ResponseWriter& out);
/// /api/query/last: the newest points of series.
void HandleQueryLast(const Request& request, Services& services, ResponseWriter& out);
/// /api/query/exp (opentsdb-queries.md §11). Every mistake in the request gets 500, as in OpenTSDB.
/// Failures while the query runs are answered as by /api/query.
void HandleQueryExp(const Request& request, Services& services, ResponseWriter& out);
/// /api/query/gexp (opentsdb-queries.md §12): functions applied to the sub-queries that they name.
/// `delete_rows`: the request is a DELETE and the settings allow deletes.
void HandleQueryGexp(const Request& request, Services& services, bool delete_rows,
                     ResponseWriter& out);
/// /q: OpenTSDB's graphs. `ascii`: points as lines of text. `json`: only the number of points.
/// `png`: a plot. Without these parameters: a page that redirects to the home page.
void HandleGraph(const Request& request, Services& services, ResponseWriter& out);

// Names, metadata and annotations (opentsdb-http-api.md §14 to §18).

/// GET, POST: returns the names of all aggregators, in OpenTSDB's order.
void HandleAggregators(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: names of one kind that begin with a prefix. Outside /api the body is not read.
void HandleSuggest(const Request& request, Services& services, ResponseWriter& out);
/// /api/search/…: GET and POST are served; other methods get 400. Searches that need OpenTSDB's
/// search plug-in report that it is not available.
void HandleSearch(const Request& request, Services& services, ResponseWriter& out);
/// /api/search/lookup (opentsdb-queries.md §10.3): the series with the given tags, from
/// Hourglass's own index. The meta table is not used. A body, if present, is read instead of the
/// query string.
void HandleLookup(const Request& request, Services& services, ResponseWriter& out);
/// Checks that the body of a search request is JSON. If it is not, sends an error and returns
/// false.
bool CheckSearchBody(const Request& request, ResponseWriter& out);
/// /api/search/tags: the number of series of a metric, and their distribution over its tags.
/// Hourglass extension, used by the web page's list of metrics. GET, POST; parameters are in the
/// query string:
/// - m: a metric with filters as in /api/search/lookup; only series with these tags are counted
/// - limit: values per tag key, those with most series first; 0 to 10000, default 25
///
/// Keys are sorted by name. An id whose name was deleted is shown in hexadecimal digits with
/// "deleted":true. 400: m or limit is missing or invalid, or m names no metric. 404: an unknown
/// name. The request runs as a query: query budgets and timeouts apply, with the same HTTP
/// statuses, and /api/stats/query lists it and can end it.
void HandleTagCounts(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST, PUT, DELETE, method_override: one annotation. /bulk: HandleAnnotationBulk.
void HandleAnnotation(const Request& request, Services& services, ResponseWriter& out);
/// GET: the global annotations of a time range. Other methods and paths are handled by
/// HandleAnnotation.
void HandleAnnotations(const Request& request, Services& services, ResponseWriter& out);
/// POST, PUT: stores an array of annotations. DELETE: deletes those of a time range. Other methods
/// get 405.
void HandleAnnotationBulk(const Request& request, Services& services, ResponseWriter& out);
/// /api/uid/assign and /api/uid/rename. Any method: the third path segment selects the function,
/// which checks the method. Unknown segments get 501.
void HandleUid(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST, PUT, DELETE, method_override: the metadata of one UID.
void HandleUidMeta(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST, PUT, DELETE, method_override: the metadata of one series, or of the series of a
/// metric.
void HandleTsMeta(const Request& request, Services& services, ResponseWriter& out);
/// Tree definitions, and below them /rule, /rules, /branch, /collisions, /notmatched, /test, whose
/// handlers are in http/api/tree_parts.h.
void HandleTree(const Request& request, Services& services, ResponseWriter& out);

// Prometheus' clients (docs/promql.md, docs/ingestion.md).

/// Returns true if a request to /api/query, which is also a path of OpenTSDB, is a PromQL query.
bool AsksPromql(const Request& request);
void HandlePromQuery(const Request& request, Services& services, ResponseWriter& out);
void HandlePromQueryRange(const Request& request, Services& services, ResponseWriter& out);
/// Returns the expression as text in Prometheus' format (query/promql/format.h).
void HandlePromFormat(const Request& request, Services& services, ResponseWriter& out);
/// Returns the syntax tree of the expression (http/wire/prom_expression.h).
void HandlePromParse(const Request& request, Services& services, ResponseWriter& out);
/// Checks the parameters and returns an empty list, because exemplars are not stored.
void HandlePromExemplars(const Request& request, Services& services, ResponseWriter& out);
/// /api/v1/labels, /api/v1/label/NAME/values and /api/v1/series: from Hourglass's own index. The
/// time range is ignored: all existing series are returned.
void HandlePromLabels(const Request& request, Services& services, ResponseWriter& out);
void HandlePromLabel(const Request& request, Services& services, ResponseWriter& out);
void HandlePromSeries(const Request& request, Services& services, ResponseWriter& out);
/// /federate: the newest samples of series, in the text format for scrapes. Series are selected by
/// match[]; without it the response is empty. A series without a sample in the last five minutes,
/// or whose newest sample is a stale marker, is left out. Clients that accept
/// "escaping=allow-utf-8" get names in quotes where they need them. For others, characters that the
/// format does not allow in names become '_'.
void HandleFederate(const Request& request, Services& services, ResponseWriter& out);
/// POST /api/v1/read: remote read, protobuf in a snappy block. Returns the stored points of each
/// query's series as samples. It counts as a query: it is listed, can be ended, and uses the HTTP
/// statuses of /api/query.
void HandleRemoteRead(const Request& request, Services& services, ResponseWriter& out);
/// POST /api/v1/write: remote write 1.0 and 2.0, protobuf in a snappy block. The Content-Type names
/// the version. Prometheus retries after 5xx and drops the samples after 4xx. 204: all samples are
/// stored. 400: the body is invalid, or some samples cannot be stored; the others are. 413: the
/// body, or the labels of 2.0, are too large. 415: another message, coding or type. Headers of the
/// responses to 2.0 count what was stored.
void HandleRemoteWrite(const Request& request, Services& services, ResponseWriter& out);
/// Returns empty lists of targets, metadata of targets, rules, alerts and Alertmanagers, because
/// Hourglass has none of them. Some clients request these lists from every data source and would
/// show an error otherwise.
void HandlePromNothing(const Request& request, Services& services, ResponseWriter& out);
void HandlePromBuildInfo(const Request& request, Services& services, ResponseWriter& out);
/// Returns the settings as YAML.
void HandlePromConfig(const Request& request, Services& services, ResponseWriter& out);
/// Returns the settings as texts.
void HandlePromFlags(const Request& request, Services& services, ResponseWriter& out);
void HandlePromRuntimeInfo(const Request& request, Services& services, ResponseWriter& out);
/// /api/v1/status/tsdb: how many series the store has, and which metrics and labels have most of
/// them. Visits every series. With HBase, the lists are empty, because that store does not number
/// its series.
void HandlePromTsdb(const Request& request, Services& services, ResponseWriter& out);
/// /api/v1/metadata: types, help texts and units of metrics (http/request/client_notes.h). GET.
/// Parameters: metric, limit.
void HandlePromMetadata(const Request& request, Services& services, ResponseWriter& out);

// Other writing clients (docs/ingestion.md).

/// /api/metadata/put of scollector: an array of {"Metric":…,"Tags":…,"Name":…,"Value":…}. The names
/// "desc", "unit" and "rate" of a metric are kept as its help text, unit and type; other elements
/// are ignored. POST. 204, or 400 if the body is not JSON.
void HandleScollectorMetadata(const Request& request, Services& services, ResponseWriter& out);
/// /write, /api/v2/write: the slow path for InfluxDB's line protocol; the connection first tries
/// the fast path (http/wire/influx_lines.h). 204, or 400 "partial write: …" that names the invalid
/// lines; valid lines are stored. POST.
void HandleInfluxWrite(const Request& request, Services& services, ResponseWriter& out);
/// /query: CREATE DATABASE remembers the name, and SHOW DATABASES lists the remembered names.
/// CREATE RETENTION POLICY is confirmed without doing anything. Other statements get 400.
void HandleInfluxQuery(const Request& request, Services& services, ResponseWriter& out);
/// Requests that Telegraf and the client libraries send before they write.
void HandleInfluxPing(const Request& request, Services& services, ResponseWriter& out);
void HandleInfluxHealth(const Request& request, Services& services, ResponseWriter& out);
/// OpenTelemetry metrics, as protobuf or JSON, with or without gzip. POST. 200: all valid points
/// are stored; the response has the number of refused data points and a reason. 503: the client may
/// send the same request again. Responses and errors have the request's content type.
void HandleOtlpMetrics(const Request& request, Services& services, ResponseWriter& out);

// The daemon itself (opentsdb-http-api.md §14, §15, §19.1).

/// GET: tables, describe, regions, sizes, count. POST: create, alter, drop, truncate, split, merge,
/// flush, compact. Hourglass extension. Clients on other machines and pages in a browser get 403,
/// unless the setting tsd.http.admin.remote allows them. POST backup?folder=/absolute/path copies
/// the store (storage/maintenance.h) and sends the response when the copy is complete. GET backup
/// returns the progress of the running copy, or the result of the last one. POST check reports all
/// damage of the files. http/wire/maintenance_json.h has the form of these responses. A call that
/// takes long gets 503 while an equal one runs, because it would only wait for it.
void HandleAdmin(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: all effective settings, or the names of the tag filters.
void HandleConfig(const Request& request, Services& services, ResponseWriter& out);
/// Any method: replies with a confirmation, and stops the daemon after the reply was sent.
void HandleDiediedie(const Request& request, Services& services, ResponseWriter& out);
/// GET, DELETE: drops cached names and ids, so that changes by other processes become visible.
void HandleDropcaches(const Request& request, Services& services, ResponseWriter& out);
/// GET, HEAD: 200 if the process can send any reply. If there is no reply, the daemon must be
/// restarted.
void HandleHealthz(const Request& request, Services& services, ResponseWriter& out);
/// GET, HEAD: 200, or 503 with the reason if requests should go to another server. A daemon that
/// refuses only new series is ready; the body says so.
void HandleReadyz(const Request& request, Services& services, ResponseWriter& out);
/// GET, HEAD: the numbers of /api/stats in Prometheus' format; latencies as histograms. A number
/// without a mapping in http/api/metric_names.h is shown untyped under its own name.
void HandleMetrics(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: /api/stats[/jvm|query|region_clients|threads]; other words are ignored.
void HandleStats(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns the statistics as lines of text; with ?json as an array of lines.
void HandleStatsPage(const Request& request, Services& services, ResponseWriter& out);
/// /api/stats/query: running and recently completed queries. Hourglass extension: DELETE with ?id=
/// ends a query.
void HandleQueryStats(const Request& request, Services& services, ResponseWriter& out);
/// GET: {"user":…,"roles":[…],"mode":…}. Without authentication: no name, all roles. Hourglass
/// extension.
void HandleUser(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: a JSON object below /api and with ?json, otherwise two lines of text.
void HandleVersion(const Request& request, Services& services, ResponseWriter& out);

// Paths for browsers.

/// Any method: the web page (http/page).
void HandleHome(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns the last lines of the log. With the parameter `level`, sets the log level
/// instead. 400 if the process keeps no log lines in memory.
void HandleLogs(const Request& request, Services& services, ResponseWriter& out);
/// Any method: /s/<file> and /favicon.ico. Files of the web page take precedence over files in
/// Options::static_root.
void HandleFile(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
