#pragma once
// The handlers of the endpoints; http/routes/endpoints.cc maps paths to them. A handler sends
// exactly one response, even if it fails. It may block unless the table has Where::kLoop for it.
// "GET", "POST" and so on are the methods that it serves. http/api/README.md lists paths and files.

#include "http/request/services.h"

namespace hg::http {

// Handlers for writes of OpenTSDB's clients.

/// The slow path of /api/put (opentsdb-http-api.md §8): all rules and error messages. The
/// connection first tries the fast path (http/wire/put_json.h) and uses this handler for other
/// bodies. POST.
void HandlePut(const Request& request, Services& services, ResponseWriter& out);
/// /api/rollup (opentsdb-http-api.md §9.1): parses the same document as /api/put and also checks
/// the rollup fields. If no rollups are configured, it rejects each point after these checks. POST.
void HandleRollup(const Request& request, Services& services, ResponseWriter& out);
/// /api/histogram (opentsdb-http-api.md §9.2). POST. If histograms are not enabled, every method
/// gets 503.
void HandleHistogram(const Request& request, Services& services, ResponseWriter& out);

// Handlers for OpenTSDB's queries (opentsdb-http-api.md §10 to §13, §19.2).

/// /api/query. The third segment of the path selects one of the three handlers that follow.
void HandleQuery(const Request& request, Services& services, ResponseWriter& out);
/// /api/query/last: returns the newest points of series.
void HandleQueryLast(const Request& request, Services& services, ResponseWriter& out);
/// /api/query/exp (opentsdb-queries.md §11). Every mistake in the request gets 500, as in OpenTSDB.
/// If the query fails while it runs, the response is as for /api/query.
void HandleQueryExp(const Request& request, Services& services, ResponseWriter& out);
/// /api/query/gexp (opentsdb-queries.md §12): applies functions to the sub-queries that they name.
/// `delete_rows`: whether the request is a DELETE and the settings allow deletes.
void HandleQueryGexp(const Request& request, Services& services, bool delete_rows,
                     ResponseWriter& out);
/// /q: OpenTSDB's graphs. The parameter `ascii` returns points as lines of text, `json` only the
/// number of points, and `png` a plot. Without them: a page that redirects to the home page.
void HandleGraph(const Request& request, Services& services, ResponseWriter& out);

// Handlers for names, metadata and annotations (opentsdb-http-api.md §14 to §18).

/// GET, POST: returns the names of all aggregators, in OpenTSDB's order.
void HandleAggregators(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns names of one kind with a prefix. Outside /api it ignores the body.
void HandleSuggest(const Request& request, Services& services, ResponseWriter& out);
/// /api/search/…: serves GET and POST; other methods get 400. A search that needs OpenTSDB's search
/// plug-in gets an error that the plug-in is not available.
void HandleSearch(const Request& request, Services& services, ResponseWriter& out);
/// /api/search/lookup (opentsdb-queries.md §10.3): returns the series with the given tags from
/// Hourglass's own index. The meta table is not used. If there is a body, the parameters are in the
/// body, not in the query string.
void HandleLookup(const Request& request, Services& services, ResponseWriter& out);
/// Checks that the body of a search request is JSON. If it is not JSON, sends an error and returns
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
/// GET, POST, PUT, DELETE, method_override: one annotation. For /bulk, HandleAnnotationBulk.
void HandleAnnotation(const Request& request, Services& services, ResponseWriter& out);
/// GET: returns the global annotations of a time range. HandleAnnotation handles other methods and
/// paths.
void HandleAnnotations(const Request& request, Services& services, ResponseWriter& out);
/// POST, PUT: stores an array of annotations. DELETE: deletes the annotations of a time range.
/// Other methods get 405.
void HandleAnnotationBulk(const Request& request, Services& services, ResponseWriter& out);
/// /api/uid/assign and /api/uid/rename. Any method: the third segment of the path selects the
/// function, and that function checks the method. Unknown segments get 501.
void HandleUid(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST, PUT, DELETE, method_override: reads or changes the metadata of one UID.
void HandleUidMeta(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST, PUT, DELETE, method_override: reads or changes the metadata of one series, or of the
/// series of a metric.
void HandleTsMeta(const Request& request, Services& services, ResponseWriter& out);
/// Reads or changes the definitions of trees. The handlers for /rule, /rules, /branch, /collisions,
/// /notmatched and /test below it are in http/api/tree_parts.h.
void HandleTree(const Request& request, Services& services, ResponseWriter& out);

// Handlers for Prometheus' clients (docs/promql.md, docs/ingestion.md).

/// Returns whether a request to /api/query, which OpenTSDB uses as well, is a PromQL query.
bool AsksPromql(const Request& request);
void HandlePromQuery(const Request& request, Services& services, ResponseWriter& out);
void HandlePromQueryRange(const Request& request, Services& services, ResponseWriter& out);
/// Returns the expression as text in Prometheus' format (query/promql/format.h).
void HandlePromFormat(const Request& request, Services& services, ResponseWriter& out);
/// Returns the syntax tree of the expression (http/wire/prom_expression.h).
void HandlePromParse(const Request& request, Services& services, ResponseWriter& out);
/// Checks the parameters and returns an empty list, because exemplars are not stored.
void HandlePromExemplars(const Request& request, Services& services, ResponseWriter& out);
/// /api/v1/labels, /api/v1/label/NAME/values and /api/v1/series: read Hourglass's own index. With a
/// time range, only series with samples in the range are included. The range is rounded to days
/// (StoredSeries::List).
void HandlePromLabels(const Request& request, Services& services, ResponseWriter& out);
void HandlePromLabel(const Request& request, Services& services, ResponseWriter& out);
void HandlePromSeries(const Request& request, Services& services, ResponseWriter& out);
/// /federate: returns the newest samples of series in the text format for scrapes. match[] selects
/// the series; without it the response is empty. A series is left out if it has no sample in the
/// last five minutes, or if its newest sample is a stale marker. If a client accepts
/// "escaping=allow-utf-8", names are in quotes where necessary. For other clients, characters that
/// the format does not allow in names become '_'.
void HandleFederate(const Request& request, Services& services, ResponseWriter& out);
/// POST /api/v1/read: remote read, with protobuf in a snappy block. Returns the stored points of
/// each query's series as samples. The request counts as a query: it is listed, can be ended, and
/// has the HTTP statuses of /api/query.
void HandleRemoteRead(const Request& request, Services& services, ResponseWriter& out);
/// POST /api/v1/write: remote write 1.0 and 2.0, with protobuf in a snappy block. The Content-Type
/// names the version. Prometheus retries after 5xx and drops the samples after 4xx. 204: all
/// samples are stored. 400: the body is invalid, or some samples cannot be stored (the others are
/// stored). 413: the body, or the labels of 2.0, are too large. 415: the message, coding or type is
/// not supported. Headers of responses to 2.0 contain the numbers of stored items.
void HandleRemoteWrite(const Request& request, Services& services, ResponseWriter& out);
/// Returns empty lists of targets, metadata of targets, rules, alerts and Alertmanagers, because
/// Hourglass has none of these. Some clients request these lists from every data source and show an
/// error if that fails.
void HandlePromNothing(const Request& request, Services& services, ResponseWriter& out);
void HandlePromBuildInfo(const Request& request, Services& services, ResponseWriter& out);
/// Returns the settings as YAML.
void HandlePromConfig(const Request& request, Services& services, ResponseWriter& out);
/// Returns the settings as texts.
void HandlePromFlags(const Request& request, Services& services, ResponseWriter& out);
void HandlePromRuntimeInfo(const Request& request, Services& services, ResponseWriter& out);
/// /api/v1/status/tsdb: returns the number of series in the store, and the metrics and labels with
/// the most series. Visits every series. With HBase, the lists are empty, because that store does
/// not number its series.
void HandlePromTsdb(const Request& request, Services& services, ResponseWriter& out);
/// /api/v1/metadata: returns types, help texts and units of metrics (http/request/client_notes.h).
/// GET. Parameters: metric, limit.
void HandlePromMetadata(const Request& request, Services& services, ResponseWriter& out);

// Handlers of write protocols that are not OpenTSDB's (docs/ingestion.md).

/// /api/metadata/put of scollector: takes an array of {"Metric":…,"Tags":…,"Name":…,"Value":…}.
/// "desc", "unit" and "rate" of a metric are kept as its help text, unit and type; other elements
/// are ignored. POST. 204, or 400 if the body is not JSON.
void HandleScollectorMetadata(const Request& request, Services& services, ResponseWriter& out);
/// /write, /api/v2/write: the slow path for InfluxDB's line protocol. The connection first tries
/// the fast path (http/wire/influx_lines.h). 204, or 400 "partial write: …", which names the
/// invalid lines; valid lines are stored. POST.
void HandleInfluxWrite(const Request& request, Services& services, ResponseWriter& out);
/// /query: CREATE DATABASE remembers the name, and SHOW DATABASES lists the remembered names.
/// CREATE RETENTION POLICY succeeds but does nothing. Other statements get 400.
void HandleInfluxQuery(const Request& request, Services& services, ResponseWriter& out);
/// Handles the requests that Telegraf and the client libraries send before they write.
void HandleInfluxPing(const Request& request, Services& services, ResponseWriter& out);
void HandleInfluxHealth(const Request& request, Services& services, ResponseWriter& out);
/// OpenTelemetry metrics, as protobuf or JSON, with or without gzip. POST. 200: all valid points
/// are stored; the response has the number of rejected data points and a reason. 503: the client
/// may send the same request again. All responses have the request's content type.
void HandleOtlpMetrics(const Request& request, Services& services, ResponseWriter& out);

// Handlers for the daemon itself (opentsdb-http-api.md §14, §15, §19.1).

/// GET: tables, describe, regions, sizes, count. POST: create, alter, drop, truncate, split, merge,
/// flush, compact. Hourglass extension. Clients on other machines and pages in a browser get 403,
/// unless the setting tsd.http.admin.remote allows them. POST backup?folder=/absolute/path copies
/// the store (storage/maintenance.h) and responds when the copy is complete. GET backup returns the
/// progress of the running copy, or the result of the last one. POST check reports all damage in
/// the files. http/wire/maintenance_json.h has the form of these responses. While a long call is
/// running, an equal call gets 503, because it would only wait.
void HandleAdmin(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns all effective settings, or the names of the tag filters.
void HandleConfig(const Request& request, Services& services, ResponseWriter& out);
/// Any method: replies with a confirmation, and stops the daemon after the reply was sent.
void HandleDiediedie(const Request& request, Services& services, ResponseWriter& out);
/// GET, DELETE: drops cached names and ids, so that changes by other processes become visible.
void HandleDropcaches(const Request& request, Services& services, ResponseWriter& out);
/// GET, HEAD: 200 if the process can send any reply. If no reply comes, the daemon must be
/// restarted.
void HandleHealthz(const Request& request, Services& services, ResponseWriter& out);
/// GET, HEAD: 200 if the daemon can serve requests. 503 with the reason if clients should use
/// another server. A daemon that rejects only new series sends 200, and the body says so.
void HandleReadyz(const Request& request, Services& services, ResponseWriter& out);
/// GET, HEAD: returns the numbers of /api/stats in Prometheus' format, and latencies as histograms.
/// A number that is not in http/api/metric_names.h is untyped and keeps its name.
void HandleMetrics(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: /api/stats[/jvm|query|region_clients|threads]. Ignores other words in the path.
void HandleStats(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns the statistics as lines of text; with ?json as an array of lines.
void HandleStatsPage(const Request& request, Services& services, ResponseWriter& out);
/// /api/stats/query: returns running and recently completed queries. Hourglass extension: DELETE
/// with ?id= ends a query.
void HandleQueryStats(const Request& request, Services& services, ResponseWriter& out);
/// GET: {"user":…,"roles":[…],"mode":…}. If authentication is off: no name, and all roles.
/// Hourglass extension.
void HandleUser(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns a JSON object below /api and with ?json, otherwise two lines of text.
void HandleVersion(const Request& request, Services& services, ResponseWriter& out);

// Handlers for paths that browsers use.

/// Any method: returns the web page (http/page).
void HandleHome(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns the last lines of the log. With the parameter `level`, sets the log level
/// instead. 400: the process keeps no log lines in memory.
void HandleLogs(const Request& request, Services& services, ResponseWriter& out);
/// Any method: /s/<file> and /favicon.ico. Files of the web page have precedence over files in
/// Options::static_root.
void HandleFile(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
