#include <doctest/doctest.h>

#include <string>
#include <utility>

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

}  // namespace hg::http
