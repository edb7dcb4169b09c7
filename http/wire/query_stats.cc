#include "http/wire/query_stats.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "http/wire/query_result.h"
#include "http/wire/reason_phrase.h"

namespace hg::http {
namespace {

using query::SubQueryStats;

double Millis(int64_t ns) { return static_cast<double>(ns) / 1e6; }

int64_t Signed(uint64_t n) { return static_cast<int64_t>(n); }

std::string Numbered(const char* name, size_t i) {
  char text[32];
  std::snprintf(text, sizeof(text), "%s_%02zu", name, i);
  return text;
}

void WriteScanner(const SubQueryStats& s, JsonWriter* json) {
  json->BeginObject();
  json->Member("compactionTime", 0.0);
  json->Member("dpsPostFilter", Signed(s.points_after));
  json->Member("dpsPreFilter", Signed(s.points_before));
  json->Member("hbaseTime", Millis(s.scan_ns));
  json->Member("rowsPostFilter", Signed(s.rows_after));
  json->Member("rowsPreFilter", Signed(s.rows_before));
  json->Member("scannerId", s.scan);
  json->Member("scannerTime", Millis(s.scan_ns));
  json->Member("scannerUidToStringTime", Millis(s.filter_ns));
  json->Member("successfulScan", 1);
  json->Member("uidPairsResolved", Signed(s.names_resolved));
  json->EndObject();
}

void WriteSubQueryStats(const SubQueryStats& s, size_t index, JsonWriter* json) {
  json->BeginObject();
  json->Member("aggregationTime", Millis(s.aggregate_ns));
  json->Member("avgHBaseTime", Millis(s.scan_ns));
  json->Member("avgScannerTime", Millis(s.scan_ns));
  json->Member("avgScannerUidToStringTime", Millis(s.filter_ns));
  json->Member("dpsPostFilter", Signed(s.points_after));
  json->Member("dpsPreFilter", Signed(s.points_before));
  json->Member("emittedDPs", Signed(s.emitted_points));
  json->Member("groupByTime", Millis(s.group_ns));
  json->Member("maxHBaseTime", Millis(s.scan_ns));
  json->Member("maxScannerUidToStringTime", Millis(s.filter_ns));
  json->Member("queryIndex", Signed(index));
  json->Member("queryScanTime", Millis(s.scan_ns));
  json->Member("rowsPostFilter", Signed(s.rows_after));
  json->Member("rowsPreFilter", Signed(s.rows_before));
  json->Member("saltScannerMergeTime", 0.0);
  json->Key("scannerStats");
  json->BeginObject();
  json->Key(Numbered("scannerIdx", 0));
  WriteScanner(s, json);
  json->EndObject();
  json->Member("serializationTime", Millis(s.print_ns));
  json->Member("successfulScan", 1);
  json->Member("uidPairsResolved", Signed(s.names_resolved));
  json->Member("uidToStringTime", Millis(s.names_ns));
  json->EndObject();
}

/// Writes the statistics of a query. `stats` may lack the last sub-queries, but `totals` are those
/// of all sub-queries.
void WriteStats(const query::QueryStats& stats, const query::QueryTotals& totals,
                JsonWriter* json) {
  const SubQueryStats& sum = totals.sum;
  const SubQueryStats& most = totals.most;
  const auto count = static_cast<double>(std::max<size_t>(totals.sub_queries, 1));
  const auto average = [&](int64_t sum_ns) { return Millis(sum_ns) / count; };
  json->BeginObject();
  json->Member("avgAggregationTime", average(sum.aggregate_ns));
  json->Member("avgHBaseTime", average(sum.scan_ns));
  json->Member("avgQueryScanTime", average(sum.scan_ns));
  json->Member("avgScannerTime", average(sum.scan_ns));
  json->Member("avgScannerUidToStringTime", average(sum.filter_ns));
  json->Member("avgSerializationTime", average(sum.print_ns));
  json->Member("dpsPostFilter", Signed(sum.points_after));
  json->Member("dpsPreFilter", Signed(sum.points_before));
  json->Member("emittedDPs", Signed(sum.emitted_points));
  json->Member("maxAggregationTime", Millis(most.aggregate_ns));
  json->Member("maxHBaseTime", Millis(most.scan_ns));
  json->Member("maxQueryScanTime", Millis(most.scan_ns));
  json->Member("maxScannerUidToStringTime", Millis(most.filter_ns));
  json->Member("maxSerializationTime", Millis(most.print_ns));
  json->Member("maxUidToStringTime", Millis(most.names_ns));
  json->Member("processingPreWriteTime", Millis(stats.before_print_ns));
  for (size_t i = 0; i < stats.queries.size() && json->alive(); ++i) {
    json->Key(Numbered("queryIdx", i));
    WriteSubQueryStats(stats.queries[i], i, json);
  }
  json->Member("rowsPostFilter", Signed(sum.rows_after));
  json->Member("rowsPreFilter", Signed(sum.rows_before));
  json->Member("successfulScan", Signed(totals.sub_queries));
  json->Member("uidPairsResolved", Signed(sum.names_resolved));
  json->EndObject();
}

void WriteRequest(const query::Request& request, JsonWriter* json) {
  json->BeginObject();
  json->Member("start", request.start);
  json->TextOrNull("end", request.end);
  json->TextOrNull("timezone", request.timezone);
  json->Key("options");
  json->Null();
  json->Member("padding", request.padding);
  json->Key("queries");
  json->BeginArray();
  for (size_t i = 0; i < request.queries.size(); ++i)
    WriteSubQuery(request.queries[i], i, {}, json);
  json->EndArray();
  json->Member("delete", request.delete_rows);
  json->Member("noAnnotations", request.no_annotations);
  json->Member("globalAnnotations", request.global_annotations);
  json->Member("showTSUIDs", request.show_tsuids);
  json->Member("msResolution", request.ms_resolution);
  json->Member("showQuery", request.show_query);
  json->Member("showStats", request.show_stats);
  json->Member("showSummary", request.show_summary);
  json->Member("useCalendar", request.use_calendar);
  json->EndObject();
}

void WriteHeaders(std::string_view key,
                  const std::vector<std::pair<std::string, std::string>>& headers,
                  JsonWriter* json) {
  json->Key(key);
  json->BeginObject();
  for (const auto& [name, value] : headers) json->Member(name, value);
  json->EndObject();
}

void WriteNull(std::string_view key, JsonWriter* json) {
  json->Key(key);
  json->Null();
}

void WriteCompleted(const query::CompletedQuery& done, JsonWriter* json) {
  json->BeginObject();
  json->Key("query");
  WriteRequest(*done.query, json);
  json->Member("exception",
               done.end.failure.ok() ? std::string_view("null") : done.end.failure.message());
  json->Member("executed", Signed(done.executed));
  WriteNull("user", json);
  json->Member("queryStartTimestamp", done.started_ms);
  json->Member("queryCompletedTimestamp", done.ended_ms);
  json->Key("httpResponse");
  json->BeginObject();
  json->Member("code", done.end.http_status);
  json->Member("reasonPhrase", ReasonPhrase(done.end.http_status));
  json->EndObject();
  json->Member("numRunningRequests", Signed(done.still_running));
  WriteHeaders("requestHeaders", done.headers, json);
  json->Key("stats");
  WriteStats(done.stats, done.totals, json);
  json->Member("sentToClient", done.end.sent);
  json->Member("id", Signed(done.id));
  json->Member("memory", done.memory_most_bytes);
  json->EndObject();
}

std::string_view PhaseName(query::RequestPhase phase) {
  switch (phase) {
    case query::RequestPhase::kWorking:
      return "working";
    case query::RequestPhase::kWaiting:
      return "waiting";
    case query::RequestPhase::kAnswering:
      return "answering";
  }
  return "";
}

void WriteRunning(const query::RunningRequestInfo& info, JsonWriter* json) {
  json->BeginObject();
  json->Member("elapsed", Millis(info.elapsed_ns));
  WriteHeaders("headers", info.headers, json);
  json->Key("query");
  WriteRequest(*info.query, json);
  json->Member("queryStart", info.started_ms);
  json->Member("remote", info.remote);
  WriteNull("user", json);
  json->Member("id", Signed(info.id));
  json->Member("phase", PhaseName(info.phase));
  json->Member("memory", info.memory_bytes);
  json->EndObject();
}

void WriteOther(const query::RunningRequestInfo& info, JsonWriter* json) {
  json->BeginObject();
  json->Member("id", Signed(info.id));
  json->Member("endpoint", info.endpoint);
  json->Member("remote", info.remote);
  json->Member("started", info.started_ms);
  json->Member("elapsed", Millis(info.elapsed_ns));
  json->Member("phase", PhaseName(info.phase));
  json->Member("memory", info.memory_bytes);
  json->EndObject();
}

/// Calls `write` for each running request that began before `own`, and before each call checks the
/// limits of `own`.
template <typename Write>
Status ForEachRunning(query::RunningRequests& requests, query::RunningRequest& own, Write write) {
  for (uint64_t last = 0;;) {
    const std::vector<query::RunningRequestInfo> next = requests.Running(last, 1);
    if (next.empty() || next[0].id >= own.id()) return {};
    RETURN_IF_ERROR(own.Check());
    write(next[0]);
    last = next[0].id;
  }
}

}  // namespace

void WriteGroupStats(const query::Group& group, const SubQueryStats& stats, size_t index,
                     int64_t print_ns, JsonWriter* json) {
  json->BeginObject();
  json->Member("aggregationTime", Millis(group.aggregate_ns));
  json->Member("emittedDPs", Signed(group.points.size()));
  json->Member("groupByTime", Millis(stats.group_ns));
  json->Member("queryIndex", Signed(index));
  json->Member("queryScanTime", Millis(stats.scan_ns));
  json->Member("saltScannerMergeTime", 0.0);
  json->Member("serializationTime", Millis(print_ns));
  json->Member("uidToStringTime", Millis(group.names_ns));
  json->EndObject();
}

void WriteQueryStats(const query::QueryStats& stats, JsonWriter* json) {
  WriteStats(stats, query::TotalsOf(stats.queries), json);
}

Status WriteRequestList(query::RunningRequests& requests, query::RunningRequest& own,
                        JsonWriter* json) {
  json->BeginObject();
  json->Key("completed");
  json->BeginArray();
  std::vector<std::weak_ptr<const query::CompletedQuery>> completed;
  for (const auto& done : requests.Completed()) completed.emplace_back(done);
  for (const auto& listed : completed) {
    RETURN_IF_ERROR(own.Check());
    if (const auto done = listed.lock()) WriteCompleted(*done, json);
  }
  json->EndArray();
  json->Key("running");
  json->BeginArray();
  RETURN_IF_ERROR(ForEachRunning(requests, own, [&](const query::RunningRequestInfo& info) {
    if (info.query != nullptr) WriteRunning(info, json);
  }));
  json->EndArray();
  bool others = false;
  RETURN_IF_ERROR(ForEachRunning(requests, own, [&](const query::RunningRequestInfo& info) {
    if (info.query != nullptr) return;
    if (!others) {
      json->Key("requests");
      json->BeginArray();
      others = true;
    }
    WriteOther(info, json);
  }));
  if (others) json->EndArray();
  json->EndObject();
  return {};
}

}  // namespace hg::http
