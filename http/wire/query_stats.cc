#include "http/wire/query_stats.h"

#include <algorithm>
#include <cstdio>
#include <string>

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
  WriteQueryStats(done.stats, json);
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

/// Sum and maximum over all sub-queries.
struct Figures {
  int64_t sum = 0, most = 0;
};

template <typename Field>
Figures Over(const std::vector<SubQueryStats>& queries, Field field) {
  Figures out;
  for (const SubQueryStats& s : queries) {
    const auto value = static_cast<int64_t>(s.*field);
    out.sum += value;
    out.most = std::max(out.most, value);
  }
  return out;
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
  const std::vector<SubQueryStats>& queries = stats.queries;
  const auto count = std::max<size_t>(queries.size(), 1);
  const auto average = [&](const Figures& f) { return Millis(f.sum) / static_cast<double>(count); };
  const Figures aggregate = Over(queries, &SubQueryStats::aggregate_ns);
  const Figures scan = Over(queries, &SubQueryStats::scan_ns);
  const Figures filter = Over(queries, &SubQueryStats::filter_ns);
  const Figures print = Over(queries, &SubQueryStats::print_ns);
  const int64_t resolved = Over(queries, &SubQueryStats::names_resolved).sum;
  json->BeginObject();
  json->Member("avgAggregationTime", average(aggregate));
  json->Member("avgHBaseTime", average(scan));
  json->Member("avgQueryScanTime", average(scan));
  json->Member("avgScannerTime", average(scan));
  json->Member("avgScannerUidToStringTime", average(filter));
  json->Member("avgSerializationTime", average(print));
  json->Member("dpsPostFilter", Over(queries, &SubQueryStats::points_after).sum);
  json->Member("dpsPreFilter", Over(queries, &SubQueryStats::points_before).sum);
  json->Member("emittedDPs", Over(queries, &SubQueryStats::emitted_points).sum);
  json->Member("maxAggregationTime", Millis(aggregate.most));
  json->Member("maxHBaseTime", Millis(scan.most));
  json->Member("maxQueryScanTime", Millis(scan.most));
  json->Member("maxScannerUidToStringTime", Millis(filter.most));
  json->Member("maxSerializationTime", Millis(print.most));
  json->Member("maxUidToStringTime", Millis(Over(queries, &SubQueryStats::names_ns).most));
  json->Member("processingPreWriteTime", Millis(stats.before_print_ns));
  for (size_t i = 0; i < queries.size(); ++i) {
    json->Key(Numbered("queryIdx", i));
    WriteSubQueryStats(queries[i], i, json);
  }
  json->Member("rowsPostFilter", Over(queries, &SubQueryStats::rows_after).sum);
  json->Member("rowsPreFilter", Over(queries, &SubQueryStats::rows_before).sum);
  json->Member("successfulScan", Signed(queries.size()));
  json->Member("uidPairsResolved", resolved);
  json->EndObject();
}

void WriteRequestList(const std::vector<query::RunningRequestInfo>& running,
                      const std::vector<std::shared_ptr<const query::CompletedQuery>>& completed,
                      uint64_t own_id, JsonWriter* json) {
  json->BeginObject();
  json->Key("completed");
  json->BeginArray();
  for (const auto& done : completed) WriteCompleted(*done, json);
  json->EndArray();
  json->Key("running");
  json->BeginArray();
  for (const query::RunningRequestInfo& info : running) {
    if (info.query != nullptr) WriteRunning(info, json);
  }
  json->EndArray();
  bool others = false;
  for (const query::RunningRequestInfo& info : running) {
    if (info.query != nullptr || info.id == own_id) continue;
    if (!others) {
      json->Key("requests");
      json->BeginArray();
      others = true;
    }
    WriteOther(info, json);
  }
  if (others) json->EndArray();
  json->EndObject();
}

}  // namespace hg::http
