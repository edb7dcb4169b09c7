// Executes the table of failures in docs/ingestion.md: each row is a result that the store gives
// for a point, and each column is the response of one format.

#include <doctest/doctest.h>
#include <prometheus.pb.h>

#include <atomic>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "http/intake/graphite_intake.h"
#include "http/telnet/lines.h"
#include "http/wire/snappy_block.h"
#include "tests/http/post_with.h"

namespace hg::http {
namespace {

using Cells = std::vector<std::string>;

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" `");
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(" `") + 1 - first);
}

/// Returns the rows of the table whose first column has the heading `failure`.
std::vector<Cells> Table() {
  std::ifstream page(std::string(HG_SOURCE_DIR) + "/docs/ingestion.md");
  std::vector<Cells> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    inside = line.starts_with("| failure |") || (inside && line.starts_with('|'));
    if (!inside) continue;
    std::istringstream cells(line.substr(1));
    Cells& row = rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(Trimmed(cell));
  }
  return rows;
}

/// Where the store fails.
enum class At : uint8_t { kSeries, kAppend, kCommit };

struct Injected {
  std::string failure;  // the first cell of the row
  At at;
  std::vector<Status> results;
};

const Injected kInjected[] = {
    {"the point is wrong, or would be a series too many",
     At::kSeries,
     {Status::InvalidArgument("why"), Status::Conflict("why")}},
    {"a name does not exist and is not created", At::kSeries, {Status::NotFound("why")}},
    {"stored data that the point needs is damaged", At::kSeries, {Status::Corruption("why")}},
    {"no memory for new series", At::kSeries, {Status::Exhausted("why")}},
    {"a limit of points per second is reached", At::kAppend, {Status::LimitExceeded("why")}},
    {"the store takes no points for now, or the request was ended",
     At::kAppend,
     {Status::Busy("why"), Status::Unavailable("why"), Status::DeadlineExceeded("why")}},
    {"reading or writing the store fails", At::kAppend, {Status::IoError("why")}},
    {"the log fails after the points were stored", At::kCommit, {Status::Unavailable("why")}},
};

/// Makes the store fail while one point is written. A put may try to append twice: on its fast way
/// and by name.
void WhileFailing(EdgeFixture& edge, At at, const Status& result,
                  const std::function<void()>& write) {
  if (at == At::kSeries) edge.points.before_register = [result] { return result; };
  if (at == At::kAppend) edge.points.RefuseAppends(2, result);
  if (at != At::kCommit) return write();
  edge.points.Hold();
  std::thread log([&] {
    while (edge.points.held() == 0) std::this_thread::yield();
    edge.points.Release(result);
  });
  write();
  log.join();
}

std::string RemoteWriteBody() {
  prometheus::WriteRequest message;
  prometheus::TimeSeries* series = message.add_timeseries();
  for (const auto& [name, value] : {std::pair("__name__", "m"), std::pair("a", "b")}) {
    prometheus::Label* label = series->add_labels();
    label->set_name(name);
    label->set_value(value);
  }
  series->add_samples()->set_timestamp(1700000000000);
  return PackSnappy(message.SerializeAsString());
}

std::string Http(EdgeFixture& edge, const Headers& headers, std::string_view target,
                 std::string_view body) {
  const BufferResponse reply = PostWith(edge, headers, target, body);
  CHECK((reply.Header("Retry-After") != nullptr) == (reply.status == 429 || reply.status == 503));
  const bool rejected = reply.body.find("rejectedDataPoints") != std::string::npos;
  return std::to_string(reply.status) + (rejected ? ", rejected" : "");
}

std::string Graphite(EdgeFixture& edge) {
  const std::atomic<bool> overdue{false};
  GraphiteIntake intake(edge.options, edge.services, overdue);
  GraphitePoint point;
  point.path = "m;a=b";
  point.time = Timestamp{1700000000};
  point.value = PointValue::Int(1);
  intake.Add(point, nullptr);
  intake.Flush(nullptr);
  return edge.counters.points_added.load() == 1 ? "waits" : "dropped";
}

std::string Telnet(EdgeFixture& edge) {
  const LinesResult result = RunTelnetLines("put m 1700000000 1 a=b\n", edge.services);
  return result.busy ? "waits" : result.text;
}

/// Writes one point in the format of a column and returns what its client sees.
std::string Answer(EdgeFixture& edge, const std::string& format) {
  if (format == "put API") {
    return Http(edge, {}, "/api/put",
                R"({"metric":"m","timestamp":1700000000,"value":1,"tags":{"a":"b"}})");
  }
  if (format == "telnet") return Telnet(edge);
  if (format == "InfluxDB") return Http(edge, {}, "/write?precision=s", "m,a=b value=1 1700000000");
  if (format == "remote write") {
    return Http(edge, {{"content-type", "application/x-protobuf"}, {"content-encoding", "snappy"}},
                "/api/v1/write", RemoteWriteBody());
  }
  if (format == "OTLP") {
    return Http(edge, {{"content-type", "application/json"}}, "/v1/metrics",
                R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":)"
                R"({"dataPoints":[{"timeUnixNano":"1700000000000000000","asInt":"1"}]}}]}]}]})");
  }
  REQUIRE(format == "Graphite");
  return Graphite(edge);
}

std::map<std::string, uint64_t> Errors(const Counters& counters) {
  return {{"illegal_arguments", counters.put_illegal_arguments.load()},
          {"unknown_metrics", counters.put_unknown_metrics.load()},
          {"hbase_errors", counters.put_storage_errors.load()},
          {"socket_writes_blocked", counters.put_writes_blocked.load()}};
}

TEST_CASE("each failure is counted and answered in each format as the documentation says") {
  constexpr size_t kFirstFormat = 2;
  constexpr std::string_view kAnyText = "…";
  const std::vector<Cells> table = Table();
  REQUIRE(table.size() == 2 + std::size(kInjected));  // with the headings and the rule
  for (size_t i = 0; i < std::size(kInjected); ++i) {
    const Cells& row = table[2 + i];
    REQUIRE(row.size() == table[0].size());
    CHECK(row[0] == kInjected[i].failure);
    for (size_t column = kFirstFormat; column < row.size(); ++column) {
      for (const Status& result : kInjected[i].results) {
        CAPTURE(row[0]);
        CAPTURE(table[0][column]);
        CAPTURE(result.ToString());
        EdgeFixture edge;
        std::string answer;
        WhileFailing(edge, kInjected[i].at, result,
                     [&] { answer = Answer(edge, table[0][column]); });
        std::string expected = row[column];
        if (expected.ends_with(kAnyText)) {
          expected.resize(expected.size() - kAnyText.size());
          answer.resize(std::min(answer.size(), expected.size()));
        }
        CHECK(answer == expected);
        std::map<std::string, uint64_t> counted = Errors(edge.counters);
        CHECK(counted[row[1]] > 0);
        counted.erase(row[1]);
        for (const auto& [name, points] : counted) {
          CAPTURE(name);
          CHECK(points == 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hg::http
