#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/api/handlers.h"
#include "http/routes/router.h"
#include "http/wire/json_value.h"
#include "query/request/running_requests.h"
#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

struct QueryStatsFixture : ApiFixture {
  QueryStatsFixture() { AddSeries("m", {{"host", "a"}}); }

  /// A query from `remote` with these headers.
  BufferResponse Query(const std::string& target,
                       std::vector<std::pair<std::string, std::string>> headers = {}) {
    Request request = MakeRequest("GET", target);
    request.remote = "10.0.0.9:51000";
    request.headers = std::move(headers);
    BufferResponse reply;
    Dispatch(request, services, reply);
    return reply;
  }
  std::string List() { return Ask("GET", "/api/stats/query").body; }
};

/// A response of a client that reads: a function is called at each write.
class ReadResponse : public BufferResponse {
 public:
  std::function<void()> on_write;
  size_t longest = 0;  // maximum number of bytes of one write

  bool Write(std::string_view bytes) override {
    if (cut) return false;
    started = true;
    longest = std::max(longest, bytes.size());
    on_write();
    return BufferResponse::Write(bytes);
  }
};

/// Adds a query with this start and with statistics of `sub_queries` sub-queries to the list of
/// ended queries.
void EndQueryOf(Services& services, const std::string& start, size_t sub_queries) {
  query::Request asked;
  asked.start = start;
  query::QueryStats stats;
  stats.queries.resize(sub_queries);
  for (query::SubQueryStats& of : stats.queries) {
    of.points_after = 3;
    of.scan_ns = 2'000'000;
  }
  auto query = services.queries.running().Begin("GET /api/query", {});
  REQUIRE(query->BecomeQuery(asked, {}).ok());
  query->SetStats(stats);
}

constexpr const char* kStatsQuery = "/api/query?start=1699999999&m=sum:m{host=a}";

bool Has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE_FIXTURE(QueryStatsFixture,
                  "a completed query is listed with its outcome and statistics") {
  Query(kStatsQuery, {{"user-agent", "x"},
                      {"authorization", "Basic abc"},
                      {"cookie", "k=v"},
                      {"x-api-key", "secret1"},
                      {"x-auth-token", "secret2"},
                      {"some-plugins-token", "secret3"}});
  const std::string list = List();
  CHECK(Has(list,
            R"({"completed":[{"query":{"start":"1699999999","end":null,"timezone":null,)"
            R"("options":null,"padding":false,"queries":[{"aggregator":"sum","metric":"m",)"));
  CHECK(Has(list, R"("exception":"null","executed":1,"user":null,"queryStartTimestamp":)"
                  R"(1700010000000,"queryCompletedTimestamp":1700010000000,)"
                  R"("httpResponse":{"code":200,"reasonPhrase":"OK"},"numRunningRequests":0,)"));
  CHECK(Has(list, R"("User-Agent":"x")"));
  CHECK_FALSE(Has(list, "abc"));
  CHECK_FALSE(Has(list, "k=v"));
  CHECK(Has(list, R"("X-Api-Key":"********")"));
  CHECK_FALSE(Has(list, "secret"));
  CHECK(Has(list, R"("emittedDPs":1)"));
  CHECK(Has(list, R"("sentToClient":true)"));
  CHECK(Has(list, R"("running":[])"));
  Query(kStatsQuery);
  CHECK(Has(List(), R"("executed":2)"));
}

TEST_CASE_FIXTURE(QueryStatsFixture, "a query that failed is listed with its error") {
  Query("/api/query?start=1699999999&m=sum:nope");
  const std::string list = List();
  CHECK(Has(list, R"("exception":"No such name for 'metrics': 'nope'")"));
  CHECK(Has(list, R"("httpResponse":{"code":400,"reasonPhrase":"Bad Request"})"));
}

TEST_CASE_FIXTURE(QueryStatsFixture, "all kinds of queries are listed") {
  Query("/q?start=1699999999&m=sum:m&ascii");
  Query("/api/query/last?timeseries=m{host=a}&back_scan=24");
  Query("/api/query/gexp?start=1699999999&exp=absolute(sum:m)");
  Ask("POST", "/api/query/exp",
      R"({"time":{"start":"1699999999","aggregator":"sum"},)"
      R"("metrics":[{"id":"a","metric":"m"}],"expressions":[{"id":"e","expr":"a + 1"}]})");
  const std::string list = List();
  size_t listed = 0;
  for (size_t at = list.find("\"executed\""); at != std::string::npos;
       at = list.find("\"executed\"", at + 1)) {
    ++listed;
  }
  // gexp reads the same data as /q, but its query has another text.
  CHECK(listed >= 3);
  CHECK(Has(list, R"("start":"last")"));
}

TEST_CASE_FIXTURE(QueryStatsFixture, "a running query is listed and can be ended by its id") {
  query::Request asked;
  asked.start = "1h-ago";
  query::RequestClient client;
  client.remote = "10.0.0.9:51000";
  auto query = services.queries.running().Begin("GET /api/query", std::move(client));
  REQUIRE(query->BecomeQuery(asked, {{{"Host", "db1:4242"}}}).ok());
  const std::string list = List();
  CHECK(Has(list, R"("running":[{"elapsed":0.0,"headers":{"Host":"db1:4242"},"query":{"start":)"
                  R"("1h-ago",)"));
  CHECK(Has(list, R"("queryStart":1700010000000,"remote":"10.0.0.9:51000","user":null,"id":1,)"
                  R"("phase":"working","memory":0})"));
  CHECK(Ask("DELETE", "/api/stats/query").status == 400);
  CHECK(Ask("DELETE", "/api/stats/query?id=x1").status == 400);
  CHECK(Ask("DELETE", "/api/stats/query?id=7").status == 404);
  CHECK(query->Check().ok());
  CHECK(Ask("DELETE", "/api/stats/query?id=1").status == 204);
  CHECK_FALSE(query->Check().ok());
}

TEST_CASE_FIXTURE(QueryStatsFixture,
                  "a running request other than a query is listed and can be ended") {
  CHECK_FALSE(Has(List(), R"("requests")"));
  query::RequestClient client;
  client.remote = "10.0.0.9:51000";
  auto request = services.queries.running().Begin("GET /api/suggest", std::move(client));
  const std::string id = std::to_string(request->id());
  CHECK(Has(List(), R"("requests":[{"id":)" + id +
                        R"(,"endpoint":"GET /api/suggest","remote":"10.0.0.9:51000",)"
                        R"("started":1700010000000,"elapsed":0.0,"phase":"working","memory":0}])"));
  CHECK(Ask("DELETE", "/api/stats/query?id=" + id).status == 204);
  CHECK_FALSE(request->Check().ok());
}

TEST_CASE_FIXTURE(QueryStatsFixture,
                  "the list has the statistics of the first sub-queries, and totals of all") {
  EndQueryOf(services, "1h-ago", 4096);
  const std::string list = List();
  CHECK(Has(list, R"("queryIdx_00":{)"));
  CHECK(Has(list, R"("queryIdx_299":{)"));
  CHECK_FALSE(Has(list, R"("queryIdx_1000":{)"));
  CHECK(Has(list, R"("successfulScan":4096,)"));
  CHECK(Has(list, R"("dpsPostFilter":12288,)"));
  CHECK(Has(list, R"("avgQueryScanTime":2.0,)"));
  CHECK(Has(list, R"("maxQueryScanTime":2.0,)"));
}

TEST_CASE_FIXTURE(QueryStatsFixture, "a long list is sent in pieces, and ends with its request") {
  constexpr size_t kQueries = 10;
  constexpr size_t kPieceMost = 64 << 10;
  constexpr size_t kEntryMost = 512 << 10;  // far more than the text of one entry
  for (size_t i = 0; i < kQueries; ++i) EndQueryOf(services, std::to_string(i), 4096);
  Request request = MakeRequest("GET", "/api/stats/query");
  ReadResponse whole;
  whole.on_write = [] {};
  Dispatch(request, services, whole);
  CHECK(whole.longest <= kPieceMost);
  CHECK(whole.body.size() > 4 * kEntryMost);
  CHECK(whole.body.ends_with(R"("running":[]})"));

  ReadResponse ended;
  ended.on_write = [&] {
    const uint64_t id = services.queries.running().Running().at(0).id;
    CHECK(services.queries.running().Kill(id));
  };
  Dispatch(request, services, ended);
  CHECK(ended.cut);
  CHECK(ended.body.size() < kEntryMost);
}

TEST_CASE_FIXTURE(QueryStatsFixture, "a client that reads the list slowly keeps no ended query") {
  for (size_t i = 0; i < query::RunningRequests::kCompletedMax; ++i)
    EndQueryOf(services, std::to_string(i), 20);
  const std::weak_ptr<const query::CompletedQuery> oldest =
      services.queries.running().Completed().back();
  ReadResponse reply;
  bool first = true;
  reply.on_write = [&] {
    if (!std::exchange(first, false)) return;
    REQUIRE_FALSE(oldest.expired());
    // Further queries replace all queries of the list.
    for (size_t i = 0; i < query::RunningRequests::kCompletedMax; ++i)
      EndQueryOf(services, "x" + std::to_string(i), 1);
    CHECK(oldest.expired());
  };
  Request request = MakeRequest("GET", "/api/stats/query");
  Dispatch(request, services, reply);
  CHECK_FALSE(first);
  CHECK(reply.body.ends_with(R"("running":[]})"));
}

TEST_CASE_FIXTURE(QueryStatsFixture, "a request that began after the list is not in the list") {
  for (size_t i = 0; i < 2; ++i) EndQueryOf(services, std::to_string(i), 300);
  std::unique_ptr<query::RunningRequest> later;
  ReadResponse reply;
  reply.on_write = [&] {
    if (later == nullptr) later = services.queries.running().Begin("GET /api/suggest", {});
  };
  Request request = MakeRequest("GET", "/api/stats/query");
  Dispatch(request, services, reply);
  CHECK(later != nullptr);
  CHECK(reply.body.ends_with(R"("running":[]})"));
}

}  // namespace hg::http
