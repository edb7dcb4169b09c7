// Limits, cancellation and statistics of /api/query. The recorded suites query-* test its results.
#include "http/api/query.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "http/routes/router.h"
#include "query/request/running_requests.h"
#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

constexpr const char* kQuery = "/api/query?start=1699999999&m=sum:m";
constexpr int64_t kMany = 40'000;  // number of points: more than one piece of a response

struct QueryFixture : ApiFixture {
  explicit QueryFixture(const query::Options& query_options = UtcQueries())
      : ApiFixture(query_options) {
    AddSeries("m", {{"host", "a"}});
  }

  void AddMany() {
    Bytes tsuid;
    REQUIRE(points
                .ListSeries("", {}, nullptr,
                            [&](ByteView found) {
                              tsuid = found;
                              return true;
                            })
                .ok());
    const SeriesNumber series = *points.Register(tsuid);
    for (int64_t i = 0; i < kMany; ++i) {
      const PointEntry entry =
          MakePointEntry(series, Timestamp{1700000001 + i}, PointValue::Int(i));
      REQUIRE(points.Append({&entry, 1}).ok());
    }
  }

  static query::Options With(const std::function<void(query::Options&)>& change) {
    query::Options options = UtcQueries();
    change(options);
    return options;
  }
};

/// A response that calls functions when it is asked whether it is cancelled, and when bytes are
/// written.
class InterruptedResponse : public BufferResponse {
 public:
  std::function<void()> on_look, on_write;

  bool Write(std::string_view bytes) override {
    if (cut) return false;
    if (on_write) {
      started = true;
      on_write();
    }
    return BufferResponse::Write(bytes);
  }
  [[nodiscard]] bool Cancelled() const override {
    if (on_look) on_look();
    return cancelled;
  }
};

}  // namespace

TEST_CASE("exceeding the memory of one query gives 413 with the query, and of all queries 503") {
  QueryFixture one(QueryFixture::With([](auto& o) { o.query_memory_bytes_max = 100'000; }));
  const BufferResponse refused = one.Ask("GET", kQuery);
  CHECK(refused.status == 413);
  CHECK(refused.body.find("start=1699999999&m=sum:m") != std::string::npos);
  QueryFixture all(QueryFixture::With([](auto& o) { o.memory_bytes_max = 1000; }));
  const BufferResponse busy = all.Ask("GET", kQuery);
  CHECK(busy.status == 503);
  CHECK(busy.Header("Retry-After") != nullptr);
}

TEST_CASE_FIXTURE(
    QueryFixture,
    "a query that fails while it runs has the reason in message and details, and is counted") {
  CHECK(Ask("GET", "/api/query?start=1699999999&m=sum:nope").body ==
        R"({"error":{"code":400,"message":"No such name for 'metrics': 'nope'",)"
        R"("details":"No such name for 'metrics': 'nope'"}})");
  CHECK(counters.query_invalid == 1);
  CHECK(Ask("POST", "/api/query", "{").status == 400);
  CHECK(counters.query_invalid == 2);
  AddMany();
  // An invalid cell of points is not an error of the request.
  const Bytes key("\0\0\1\x65\x53\xed\xe0\0\0\1\0\0\1", 13);
  REQUIRE(store.Mutate("tsdb", {{key, {PutCell("t", Bytes("\0\1\2\3", 4), "x")}}}).ok());
  const BufferResponse broken = Ask("GET", kQuery);
  CHECK(broken.status == 400);
  CHECK(broken.body.find("\"details\":") != std::string::npos);
  CHECK(counters.query_invalid == 2);
  CHECK(counters.query_exceptions == 1);
}

TEST_CASE_FIXTURE(QueryFixture, "a response that fails before its first byte becomes an error") {
  InterruptedResponse reply;
  reply.on_look = [&] { services.queries.running().Kill(1); };
  Request request = MakeRequest("GET", kQuery);
  Dispatch(request, services, reply);
  CHECK(reply.status == 413);
  CHECK(reply.body.find("administrator") != std::string::npos);
  CHECK(reply.body.find("dps") == std::string::npos);
}

TEST_CASE_FIXTURE(QueryFixture, "a response that fails in the middle is cut off") {
  AddMany();
  InterruptedResponse reply;
  reply.on_write = [&] { services.queries.running().Kill(1); };
  Request request = MakeRequest("GET", kQuery);
  Dispatch(request, services, reply);
  CHECK(reply.cut);
  const auto completed = services.queries.running().Completed();
  REQUIRE(completed.size() == 1);
  CHECK_FALSE(completed[0]->end.sent);
  CHECK_FALSE(completed[0]->end.failure.ok());
}

TEST_CASE_FIXTURE(QueryFixture,
                  "an empty callback name is an error in queries of last points, "
                  "and is ignored in other queries") {
  const std::string last = "/api/query/last?timeseries=m{host=a}&back_scan=24";
  const BufferResponse refused = Ask("GET", last + "&jsonp=");
  CHECK(refused.status == 400);
  CHECK(refused.body == R"({"error":{"code":400,"message":"Missing callback name",)"
                        R"("details":"Missing callback name"}})");
  CHECK(Ask("GET", last + "&jsonp").status == 400);
  CHECK(Ask("GET", last).status == 200);
  CHECK(Ask("GET", last + "&jsonp=f").body.starts_with("f("));
  CHECK(Ask("GET", std::string(kQuery) + "&jsonp=").status == 200);
}

TEST_CASE_FIXTURE(QueryFixture, "a query ends if its client has gone") {
  BufferResponse reply;
  reply.cancelled = true;
  Request request = MakeRequest("GET", kQuery);
  Dispatch(request, services, reply);
  CHECK(services.queries.running().Completed()[0]->client_gone);
  CHECK(services.queries.running().budget().taken() == 0);
}

TEST_CASE("a large query asks for another handler thread") {
  QueryFixture fixture(QueryFixture::With([](auto& o) { o.large_bytes = 1000; }));
  BufferResponse reply;
  Request request = MakeRequest("GET", kQuery);
  Dispatch(request, fixture.services, reply);
  CHECK(reply.status == 200);
  CHECK(reply.takes_long);
  CHECK(fixture.services.queries.running().large_queries().working() == 0);
}

TEST_CASE("the large queries of a user are queries of one client") {
  QueryFixture fixture(QueryFixture::With([](auto& o) {
    o.large_bytes = 1000;
    o.large_queries.width = 1;
    o.large_queries.waiting_max = 0;
  }));
  query::RequestClient client;
  client.user = "alice";
  const auto running = fixture.services.queries.running().Begin("GET /", std::move(client));
  REQUIRE(running->Charge(2000).ok());
  const auto status = [&](const std::string& user) {
    Request request = MakeRequest("GET", kQuery);
    request.user = user;
    BufferResponse reply;
    Dispatch(request, fixture.services, reply);
    return reply.status;
  };
  CHECK(status("alice") == 503);
  CHECK(status("bob") == 200);
}

TEST_CASE(
    "with simultaneous_duplicates off, a query is refused while the same address runs an "
    "equal one") {
  QueryFixture fixture(QueryFixture::With([](auto& o) { o.simultaneous_duplicates = false; }));
  const auto ask = [&](ResponseWriter& reply) {
    Request request = MakeRequest("GET", kQuery);
    request.remote = "10.0.0.9:51000";
    Dispatch(request, fixture.services, reply);
  };
  BufferResponse second;
  InterruptedResponse first;
  first.on_write = [&] { ask(second); };
  ask(first);
  CHECK(first.status == 200);
  CHECK(second.status == 400);
  CHECK(second.body.find("Query is already executing for endpoint: 10.0.0.9") != std::string::npos);
}

TEST_CASE_FIXTURE(QueryFixture, "the summary has every number, also for an empty result") {
  for (const char* target : {kQuery, "/api/query?start=1500000000&end=1500000001&m=sum:m"}) {
    const std::string body = Ask("GET", std::string(target) + "&show_summary").body;
    CAPTURE(body);
    for (const char* key : {"avgAggregationTime",
                            "avgHBaseTime",
                            "avgQueryScanTime",
                            "avgScannerTime",
                            "avgScannerUidToStringTime",
                            "avgSerializationTime",
                            "dpsPostFilter",
                            "dpsPreFilter",
                            "emittedDPs",
                            "maxAggregationTime",
                            "maxHBaseTime",
                            "maxQueryScanTime",
                            "maxScannerUidToStringTime",
                            "maxSerializationTime",
                            "maxUidToStringTime",
                            "processingPreWriteTime",
                            "queryIdx_00",
                            "rowsPostFilter",
                            "rowsPreFilter",
                            "successfulScan",
                            "uidPairsResolved",
                            "aggregationTime",
                            "groupByTime",
                            "queryIndex",
                            "queryScanTime",
                            "saltScannerMergeTime",
                            "scannerStats",
                            "scannerIdx_00",
                            "compactionTime",
                            "hbaseTime",
                            "scannerId",
                            "scannerTime",
                            "scannerUidToStringTime",
                            "serializationTime",
                            "uidToStringTime"}) {
      CAPTURE(std::string(key));
      CHECK(body.find("\"" + std::string(key) + "\":") != std::string::npos);
    }
  }
}

TEST_CASE_FIXTURE(QueryFixture, "the statistics count rows before and after a filter by name") {
  AddSeries("m", {{"host", "b"}});
  const std::string body =
      Ask("GET", "/api/query?start=1699999999&m=sum:m{host=wildcard(b*)}&show_summary&show_stats")
          .body;
  CAPTURE(body);
  CHECK(body.find(R"("dpsPostFilter":1,"dpsPreFilter":2,"emittedDPs":1)") != std::string::npos);
  CHECK(body.find(R"("rowsPostFilter":1,"rowsPreFilter":2)") != std::string::npos);
  CHECK(body.find(R"("stats":{"aggregationTime":)") != std::string::npos);
}

}  // namespace hg::http
