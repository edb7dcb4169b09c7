#pragma once
// The handlers of the HTTP endpoints; http/routes/endpoints.cc maps paths to handlers. A handler
// sends exactly one response, even if it fails. A handler may block, except while Request::on_loop
// is true. In the comments, "GET", "POST" and so on are the methods that a handler serves.
// http/api/README.md lists paths and files.

#include "http/request/services.h"

namespace hg::http {

// The following handlers serve writes of OpenTSDB's clients.

/// The slow path of POST /api/put (opentsdb-http-api.md §8), with all rules and error messages. The
/// connection first tries the fast path (http/wire/put_json.h), and calls this handler for bodies
/// that the fast path does not accept.
void HandlePut(const Request& request, Services& services, ResponseWriter& out);
/// POST /api/rollup (opentsdb-http-api.md §9.1): parses the same document as /api/put, and also
/// checks the rollup fields. If no rollups are configured, the handler rejects each point after
/// these checks.
void HandleRollup(const Request& request, Services& services, ResponseWriter& out);
/// POST /api/histogram (opentsdb-http-api.md §9.2). If histograms are not enabled, a request with
/// any method gets 503.
void HandleHistogram(const Request& request, Services& services, ResponseWriter& out);

// The following handlers serve OpenTSDB's queries (opentsdb-http-api.md §10 to §13, §19.2).

/// /api/query. For the paths /api/query/last, /api/query/exp and /api/query/gexp, calls
/// HandleQueryLast, HandleQueryExp or HandleQueryGexp. For a PromQL query (AsksPromql), calls
/// HandlePromQuery.
void HandleQuery(const Request& request, Services& services, ResponseWriter& out);
/// /api/query/last: returns the newest point of each requested series.
void HandleQueryLast(const Request& request, Services& services, ResponseWriter& out);
/// /api/query/exp (opentsdb-queries.md §11). Every mistake in the request gets HTTP status 500, as
/// in OpenTSDB. A query that fails while it runs gets the same response as in /api/query.
void HandleQueryExp(const Request& request, Services& services, ResponseWriter& out);
/// /api/query/gexp (opentsdb-queries.md §12): applies functions to the sub-queries that the
/// functions name. `delete_rows`: whether the request is a DELETE and the settings allow deletes.
void HandleQueryGexp(const Request& request, Services& services, bool delete_rows,
                     ResponseWriter& out);
/// /q: OpenTSDB's graphs. With the parameter `ascii`, the response has the points as lines of text;
/// with `json`, only the number of points and information about the query; with `png`, a plot.
/// Without these parameters, the response is a page that redirects to the home page.
void HandleGraph(const Request& request, Services& services, ResponseWriter& out);

// The following handlers serve names, metadata and annotations (opentsdb-http-api.md §14 to §18).

/// GET, POST: returns the names of all aggregation functions, in OpenTSDB's order.
void HandleAggregators(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns the names of one kind that begin with a prefix. If the path is not below
/// /api, the handler ignores the body.
void HandleSuggest(const Request& request, Services& services, ResponseWriter& out);
/// /api/search/…: serves GET and POST; requests with other methods get 400. A search that needs
/// OpenTSDB's search plug-in gets the error that the plug-in is not available.
void HandleSearch(const Request& request, Services& services, ResponseWriter& out);
/// /api/search/lookup (opentsdb-queries.md §10.3): returns the series that have the given tags. The
/// handler reads Hourglass's own index, not the meta table. If the request has a body, the
/// parameters are taken from the body, not from the query string.
void HandleLookup(const Request& request, Services& services, ResponseWriter& out);
/// Checks that the body of a search request is a valid JSON document of a search. If the body is
/// not valid, sends an error reply and returns false.
bool CheckSearchBody(const Request& request, ResponseWriter& out);
/// /api/search/tags: returns the number of series of a metric, and their distribution over its
/// tags. This is a Hourglass extension; the list of metrics on the web page uses it. Serves GET and
/// POST. The parameters are in the query string:
/// - m: a metric with filters as in /api/search/lookup; only series with these tags are counted
/// - limit: the number of values per tag key, 0 to 10000, default 25; the values with most series
///   come first
///
/// Keys are sorted by name. An id whose name was deleted is shown in hexadecimal digits with
/// "deleted":true. 400: m is missing, is invalid or names no metric, or limit is invalid. 404: a
/// name is unknown. The request runs as a query: the limits of queries apply to it, its errors have
/// the HTTP statuses of /api/query, and /api/stats/query lists it and can end it.
void HandleTagCounts(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST, PUT, DELETE, method_override: reads or changes one annotation. For paths that end
/// with /bulk, calls HandleAnnotationBulk.
void HandleAnnotation(const Request& request, Services& services, ResponseWriter& out);
/// GET: returns the global annotations of a time range. For other methods and paths, calls
/// HandleAnnotation.
void HandleAnnotations(const Request& request, Services& services, ResponseWriter& out);
/// POST, PUT: stores an array of annotations. DELETE: deletes the annotations of a time range. A
/// request with another method gets 405.
void HandleAnnotationBulk(const Request& request, Services& services, ResponseWriter& out);
/// /api/uid/assign, /api/uid/rename, /api/uid/uidmeta and /api/uid/tsmeta. Each of these paths has
/// its own function, which checks the method. Other paths below /api/uid get 501.
void HandleUid(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST, PUT, DELETE, method_override: reads or changes the metadata of one UID.
void HandleUidMeta(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST, PUT, DELETE, method_override: reads or changes the metadata of one series, or of the
/// series of a metric.
void HandleTsMeta(const Request& request, Services& services, ResponseWriter& out);
/// Reads or changes the definitions of trees. The handlers for the paths /rule, /rules, /branch,
/// /collisions, /notmatched and /test below /api/tree are in http/api/tree_parts.h.
void HandleTree(const Request& request, Services& services, ResponseWriter& out);

// The following handlers serve Prometheus' clients (docs/promql.md, docs/ingestion.md).

/// Returns whether a request to /api/query is a PromQL query. OpenTSDB's queries have the same
/// path.
bool AsksPromql(const Request& request);
void HandlePromQuery(const Request& request, Services& services, ResponseWriter& out);
void HandlePromQueryRange(const Request& request, Services& services, ResponseWriter& out);
/// Returns the PromQL expression of the request as text in the format of Prometheus
/// (query/promql/format.h).
void HandlePromFormat(const Request& request, Services& services, ResponseWriter& out);
/// Returns the syntax tree of the PromQL expression of the request (http/wire/prom_expression.h).
void HandlePromParse(const Request& request, Services& services, ResponseWriter& out);
/// Checks the parameters of the request and returns an empty list, because Hourglass does not store
/// exemplars.
void HandlePromExemplars(const Request& request, Services& services, ResponseWriter& out);
/// /api/v1/labels, /api/v1/label/NAME/values and /api/v1/series: read Hourglass's own index. If the
/// request has a time range, the result contains only series, or labels of series, that have
/// samples in this range. The range is widened to whole days (StoredSeries::List). A store without
/// an index of series ignores the range if the request has no match[].
void HandlePromLabels(const Request& request, Services& services, ResponseWriter& out);
void HandlePromLabel(const Request& request, Services& services, ResponseWriter& out);
void HandlePromSeries(const Request& request, Services& services, ResponseWriter& out);
/// /federate: returns the newest samples of series in the text format for scrapes. match[] selects
/// the series; without match[], the response is empty. A series is left out if it has no sample in
/// the last five minutes, or if its newest sample is a stale marker.
///
/// If the client accepts "escaping=allow-utf-8", names are written in quotes where necessary. For
/// other clients, characters that the format does not allow in names become '_'.
void HandleFederate(const Request& request, Services& services, ResponseWriter& out);
/// POST /api/v1/read: Prometheus' remote read, with a protobuf message in a snappy block. For each
/// query of the request, returns the stored points of the query's series as samples. The request
/// counts as a query: it is listed as a running query, can be ended, and has the HTTP statuses of
/// /api/query.
void HandleRemoteRead(const Request& request, Services& services, ResponseWriter& out);
/// POST /api/v1/write: Prometheus' remote write 1.0 and 2.0, with a protobuf message in a snappy
/// block. The Content-Type names the version. Prometheus retries after a 5xx status, and drops the
/// samples after a 4xx status.
///
/// 204: all samples are stored. 400: the body is invalid, or some samples cannot be stored; all
/// other samples are stored. 413: the body is too large, or the labels of a 2.0 request are too
/// large. 415: the message, coding or type is not supported. The headers of responses to 2.0
/// requests contain the numbers of stored items.
void HandleRemoteWrite(const Request& request, Services& services, ResponseWriter& out);
/// Returns empty lists of targets, metadata of targets, rules, alerts and Alertmanagers, because
/// Hourglass has none of these. Some clients request these lists from every data source and show an
/// error if the request fails.
void HandlePromNothing(const Request& request, Services& services, ResponseWriter& out);
void HandlePromBuildInfo(const Request& request, Services& services, ResponseWriter& out);
/// Returns the settings of the daemon as YAML.
void HandlePromConfig(const Request& request, Services& services, ResponseWriter& out);
/// Returns the settings of the daemon as texts.
void HandlePromFlags(const Request& request, Services& services, ResponseWriter& out);
void HandlePromRuntimeInfo(const Request& request, Services& services, ResponseWriter& out);
/// /api/v1/status/tsdb: returns the number of series in the store, and the metrics and labels that
/// have the most series. The handler visits every series. If the store is HBase, the number is 0
/// and the lists are empty, because a store on HBase has no list of its series.
void HandlePromTsdb(const Request& request, Services& services, ResponseWriter& out);
/// GET /api/v1/metadata: returns the types, help texts and units of metrics
/// (http/request/client_notes.h). Parameters: metric, limit.
void HandlePromMetadata(const Request& request, Services& services, ResponseWriter& out);

// The following handlers serve write protocols other than OpenTSDB's (docs/ingestion.md).

/// POST /api/metadata/put of scollector: takes an array of
/// {"Metric":…,"Tags":…,"Name":…,"Value":…}. The values with the names "desc", "unit" and "rate"
/// become the help text, unit and type of the metric; other elements are ignored. The response is
/// 204, or 400 if the body is not JSON.
void HandleScollectorMetadata(const Request& request, Services& services, ResponseWriter& out);
/// POST /write, /api/v2/write: the slow path for InfluxDB's line protocol. The connection first
/// tries the fast path (http/wire/influx_lines.h). The response is 204, or 400 "partial write: …"
/// with the invalid lines; all valid lines are stored.
void HandleInfluxWrite(const Request& request, Services& services, ResponseWriter& out);
/// /query of InfluxDB. CREATE DATABASE stores a database name in memory, and SHOW DATABASES lists
/// the stored names. CREATE RETENTION POLICY succeeds but does nothing. Other statements get 400.
void HandleInfluxQuery(const Request& request, Services& services, ResponseWriter& out);
/// Handles the requests that Telegraf and the client libraries of InfluxDB send before they write.
void HandleInfluxPing(const Request& request, Services& services, ResponseWriter& out);
void HandleInfluxHealth(const Request& request, Services& services, ResponseWriter& out);
/// POST of OpenTelemetry metrics, as protobuf or JSON, with or without gzip. 200: all valid points
/// are stored; the response has the number of rejected data points and a reason. 503: the client
/// may send the same request again. All responses have the content type of the request.
void HandleOtlpMetrics(const Request& request, Services& services, ResponseWriter& out);

// The following handlers serve the operation of the daemon itself (opentsdb-http-api.md §14, §15,
// §19.1).

/// /api/admin, a Hourglass extension. GET serves: tables, describe, regions, sizes, count. POST
/// serves: create, alter, drop, truncate, split, merge, flush, compact. Clients on other machines
/// and pages in a browser get 403, unless the setting tsd.http.admin.remote allows them.
///
/// POST backup?folder=/absolute/path copies the store (storage/maintenance.h) and responds when the
/// copy is complete. GET backup returns the progress of the running copy, or the result of the last
/// copy. POST check reports all damage in the files of the store. http/wire/maintenance_json.h
/// describes these responses.
///
/// While a long call is running, a call with the same name gets 503, because the second call would
/// only wait for the first call.
void HandleAdmin(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: /api/config returns all effective settings, and /api/config/filters returns the names
/// of the tag filters.
void HandleConfig(const Request& request, Services& services, ResponseWriter& out);
/// Serves any method: sends a confirmation, and stops the daemon. The daemon sends the confirmation
/// before it ends.
void HandleDiediedie(const Request& request, Services& services, ResponseWriter& out);
/// GET, DELETE: removes names and ids from the caches of the daemon, so that changes by other
/// processes become visible.
void HandleDropcaches(const Request& request, Services& services, ResponseWriter& out);
/// GET, HEAD: sends 200 whenever the process can send a reply. If a client gets no reply, the
/// daemon must be restarted.
void HandleHealthz(const Request& request, Services& services, ResponseWriter& out);
/// GET, HEAD: sends 200 if the daemon can serve requests. Sends 503 with the reason if clients
/// should use another server. A daemon that rejects only new series sends 200, and the body says
/// that it rejects new series.
void HandleReadyz(const Request& request, Services& services, ResponseWriter& out);
/// GET, HEAD: returns the numbers of /api/stats in Prometheus' format, and the latencies as
/// histograms. A number that is not in http/api/metric_names.h has the type "untyped" and keeps its
/// name.
void HandleMetrics(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: serves /api/stats[/jvm|query|region_clients|threads]. Unknown words in the path are
/// ignored.
void HandleStats(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns the statistics as lines of text, or with ?json as a JSON array of these
/// lines.
void HandleStatsPage(const Request& request, Services& services, ResponseWriter& out);
/// /api/stats/query: returns running and recently completed queries. Hourglass extension: DELETE
/// with ?id= ends a query.
void HandleQueryStats(const Request& request, Services& services, ResponseWriter& out);
/// GET: returns {"user":…,"roles":[…],"mode":…}. If authentication is off, "user" is "" and "roles"
/// has all roles. Hourglass extension.
void HandleUser(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns the version as a JSON object below /api or with ?json, and otherwise as two
/// lines of text.
void HandleVersion(const Request& request, Services& services, ResponseWriter& out);

// The following handlers serve paths that browsers request.

/// Any method: returns the web page of the daemon (http/page).
void HandleHome(const Request& request, Services& services, ResponseWriter& out);
/// GET, POST: returns the last lines of the log. If the request has the parameter `level`, sets the
/// log level and does not return the log. 400: the process keeps no log lines in memory.
void HandleLogs(const Request& request, Services& services, ResponseWriter& out);
/// Any method: serves the files /s/<file> and /favicon.ico. If a file of the web page and a file in
/// Options::static_root have the same name, the file of the web page is sent.
void HandleFile(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
