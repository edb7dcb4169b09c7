// HTTP requests over a socket: how they arrive and how they are answered.

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "http/routes/router.h"
#include "http/wire/body_coding.h"
#include "storage/model/utf8.h"
#include "tests/http/running_server.h"

namespace hg::http {
namespace {

TEST_CASE("a put gets 204, the first time and when its series is known") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  for (int i = 0; i < 3; ++i) {
    client.Send(Post("/api/put", PointAt(1700000000 + i)));
    const auto response = client.ReadResponse();
    CHECK(response.head ==
          "HTTP/1.1 204 No Content\r\nContent-Type: application/json; charset=UTF-8\r\n"
          "X-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n");
  }
  CHECK(edge.Cells().size() == 3);
}

TEST_CASE("flags of a put have the same effect on the fast path and the slow path") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  for (int i = 0; i < 2; ++i) {
    client.Send(Post("/api/put?summary", Points(3)));
    CHECK(client.ReadResponse().body == R"({"success":3,"failed":0})");
    client.Send(Post("/api/put?details&sync", Points(2)));
    CHECK(client.ReadResponse().body == R"({"success":2,"failed":0,"errors":[]})");
  }
}

TEST_CASE("pipelined requests are answered in order") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  std::string all;
  for (int i = 0; i < 20; ++i) {
    all += Post("/api/put", PointAt(1700000000 + i));
    all += kGetVersion;
    all += Post("/api/put?summary", Points(i + 1));
    all += "GET /api/nothing HTTP/1.1\r\n\r\n";
  }
  client.Send(all);
  for (int i = 0; i < 20; ++i) {
    CHECK(client.ReadResponse().status() == 204);
    CHECK(client.ReadResponse().body.find("\"version\"") != std::string::npos);
    CHECK(client.ReadResponse().body == "{\"success\":" + std::to_string(i + 1) + ",\"failed\":0}");
    CHECK(client.ReadResponse().status() == 404);
  }
}

TEST_CASE("a request may arrive byte by byte") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  for (const char c : Post("/api/put", PointAt(1700000000))) client.Send({&c, 1});
  CHECK(client.ReadResponse().status() == 204);
}

TEST_CASE("data that is not HTTP closes the connection without a reply") {
  RunningServer edge;
  for (const std::string& bytes : {std::string("VERSION\n"), "GET /" + std::string(5000, 'x'),
                                   "GET / HTTP/1.1\r\nA: " + std::string(9000, 'x')}) {
    ClientSocket client(edge.server.port());
    client.Send(bytes);
    CHECK(client.ReadAll().empty());
  }
  // A browser that was made to use TLS on the plain port: its bytes must not be read as telnet
  // lines.
  ClientSocket client(edge.server.port());
  client.Send("\x16\x03\x01\x02\nput m 1700000000 1 a=b\nversion\n");
  CHECK(client.ReadAll().empty());
  CHECK(edge.Ids().empty());
}

TEST_CASE("malformed HTTP gets 400 with a reason, and the connection ends") {
  RunningServer edge;
  constexpr std::string_view kPut = "POST /api/put HTTP/1.1\r\nHost: localhost\r\n";
  const std::string hidden = Post("/api/put", PointAt(1700000000));
  for (const std::string& bytes :
       {std::string("GET http://x/api/version HTTP/1.1\r\n\r\n"),
        std::string("OPTIONS * HTTP/1.1\r\n\r\n"),
        std::string("GET /api/version HTTP/1.1\r\nX-A: one\r\n two\r\n\r\n"),
        std::string("GET /api/version HTTP/1.1\nHost: localhost\n\n"),
        std::string("GET /api/version HTTP/1.1\r\nX-A: a\x01\r\n\r\n"),
        std::string(kPut) + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n[]",
        std::string(kPut) + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        std::string(kPut) + "Transfer-Encoding: chunked\r\n\r\n2;\x01\r\n[]\r\n0\r\n\r\n",
        std::string(kPut) + "Transfer-Encoding: chunked\r\n\r\nx\r\n",
        std::string(kPut) + "Host: localhost\r\nContent-Length: 2\r\n\r\n[]"}) {
    CAPTURE(bytes);
    ClientSocket client(edge.server.port());
    client.Send(std::string(kGetVersion) + bytes + hidden);
    CHECK(client.ReadResponse().status() == 200);
    const auto refused = client.ReadResponse();
    CHECK(refused.status() == 400);
    CHECK(refused.head.find("Connection: close\r\n") != std::string::npos);
    CHECK(refused.body.starts_with(R"({"error":{"code":400,"message":")"));
    CHECK(client.ReadAll().empty());
  }
  CHECK(edge.Ids().empty());
}

TEST_CASE(
    "without keep-alive there is no Content-Length, and the end of the connection ends the body") {
  RunningServer edge;
  for (const char* request : {"GET /api/version HTTP/1.0\r\n\r\n",
                              "GET /api/version HTTP/1.1\r\nConnection: close\r\n\r\n"}) {
    ClientSocket client(edge.server.port());
    client.Send(request);
    const std::string bytes = client.ReadAll();
    CHECK(bytes.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(bytes.find("Content-Length") == std::string::npos);
    CHECK(bytes.back() == '}');
  }
  ClientSocket client(edge.server.port());
  client.Send("GET /api/version HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK(client.ReadResponse().status() == 200);
  client.Send(kGetVersion);
  CHECK(client.ReadResponse().status() == 200);
}

TEST_CASE("HEAD returns the head only") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  client.Send("HEAD /api/put HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string bytes = client.ReadAll();
  CHECK(bytes.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"));
  CHECK(bytes.ends_with("\r\n\r\n"));
}

TEST_CASE("responses are compressed if the client accepts it") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  client.Send("GET /api/version HTTP/1.1\r\nAccept-Encoding: deflate, gzip\r\n\r\n");
  const auto response = client.ReadResponse();
  CHECK(response.head.find("Content-Encoding: gzip\r\n") != std::string::npos);
  std::string body;
  REQUIRE(UnpackBody(ContentCoding::kGzip, response.body, 1 << 20, 0, &body, nullptr,
                     RequestContext::Unlimited())
              .ok());
  CHECK(body.find("\"version\"") != std::string::npos);
}

TEST_CASE(
    "with allowed origins, puts of agents still run on the event loop, and puts of pages on "
    "a thread") {
  RunningServer edge([](Options& options) { options.cors_domains = {"http://a"}; });
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", Points(3)));
  CHECK(client.ReadResponse().status() == 204);
  // The thread that handles the first request counts it, possibly after the response.
  for (int i = 0; i < 5000 && edge.counters.all_requests.Count() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const uint64_t before = edge.counters.all_requests.Count();
  REQUIRE(before == 1);
  client.Send(Post("/api/put", Points(3)));
  CHECK(client.ReadResponse().head.find("Access-Control") == std::string::npos);
  CHECK(edge.counters.all_requests.Count() == before);
  client.Send(Post("/api/put", Points(3), "Origin: http://a\r\n"));
  CHECK(client.ReadResponse().head.find("Access-Control-Allow-Origin: http://a\r\n") !=
        std::string::npos);
  client.Send(Post("/api/put", Points(3), "Origin: http://b\r\n"));
  const auto refused = client.ReadResponse();
  CHECK(refused.status() == 200);
  CHECK(refused.body.find("CORS domain not allowed") != std::string::npos);
  CHECK(edge.counters.points_added == 9);
}

TEST_CASE("requests for plug-ins are counted separately") {
  RunningServer edge;
  for (const char* target : {"/api/version", "/plugin", "/plugins/x", "/plugin/x?y", "/PLUGIN/"}) {
    ClientSocket client(edge.server.port());
    client.Send(std::string("GET ") + target + " HTTP/1.1\r\n\r\n");
    CHECK(client.ReadResponse().status() != 0);
  }
  CHECK(edge.counters.rpc_http == 3);
  CHECK(edge.counters.rpc_http_plugin == 2);
}

TEST_CASE("paths and headers that are not UTF-8 do not make JSON invalid") {
  RunningServer edge([](Options& options) { options.cors_domains = {"http://a"}; });
  ClientSocket client(edge.server.port());
  for (const char* request :
       {"GET /api/search/\xff\x80lookup HTTP/1.1\r\n\r\n",
        "GET /api/version HTTP/1.1\r\nOrigin: http://\xc3\x28\r\n\r\n",
        "GET /api/query?start=1h-ago&m=sum:m HTTP/1.1\r\nUser-Agent: \xf0\x28\r\n\r\n",
        "GET /api/stats/query HTTP/1.1\r\n\r\n"}) {
    CAPTURE(request);
    client.Send(request);
    const auto response = client.ReadResponse();
    CHECK(IsUtf8(response.body));
    CHECK(response.body.starts_with("{\""));
  }
}

TEST_CASE(
    "a small query runs on the event loop, and one that must wait runs on the pool, each once") {
  const std::string query = "/api/query?start=1699999999&end=1700060000&m=sum:m";
  RunningServer edge;
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", Points(3)));
  REQUIRE(client.ReadResponse().status() == 204);
  const auto ask = [&] {
    client.Send("GET " + query + " HTTP/1.1\r\n\r\n");
    const auto answer = client.ReadResponse();
    CHECK(answer.status() == 200);
    return answer.body;
  };
  const std::string on_pool = ask();
  CHECK(on_pool.find("1700000002") != std::string::npos);
  CHECK(edge.points.scans_on_loop == 0);

  edge.points.reads_ask = true;
  CHECK(ask() == on_pool);
  CHECK(edge.points.scans_on_loop == 1);
  CHECK(edge.points.scans == 2);

  edge.points.scans_wait = true;
  CHECK(ask() == on_pool);
  CHECK(edge.points.scans_on_loop == 2);
  CHECK(edge.points.scans == 3);
  CHECK(edge.counters.query_success == 3);
  CHECK(edge.counters.query_exceptions == 0);
  CHECK(edge.counters.query_invalid == 0);

  // Matching a pattern may take long, and so may many literals.
  edge.points.scans_wait = false;
  std::string literals = "a";
  for (int i = 0; i < 100; ++i) literals += "%7Ca" + std::to_string(i);
  for (const std::string& filter : {std::string("regexp(a.*)"), "iliteral_or(" + literals + ")"}) {
    client.Send("GET " + query + "%7Bhost=" + filter + "%7D HTTP/1.1\r\n\r\n");
    CHECK(client.ReadResponse().status() == 200);
  }
  CHECK(edge.points.scans_on_loop == 2);
  CHECK(edge.counters.query_invalid == 0);

  // Requests that change the store are never run on an event loop.
  client.Send(Post("/api/query", R"({"start":1,"delete":true,"queries":[{"aggregator":"sum",)"
                                 R"("metric":"m"}]})"));
  CHECK(client.ReadResponse().status() == 200);
  CHECK(edge.points.scans_on_loop == 2);
  CHECK(ask().find("1700000002") == std::string::npos);
}

TEST_CASE("a response that repeats a long query for many results is written on the pool") {
  RunningServer edge;
  edge.points.reads_ask = true;
  ClientSocket client(edge.server.port());
  std::string points = "[";
  for (int i = 0; i < 200; ++i)
    points += (i > 0 ? "," : "") + PointAt(1700000000, "host" + std::to_string(i));
  client.Send(Post("/api/put", points + "]"));
  REQUIRE(client.ReadResponse().status() == 204);
  const auto ask = [&](size_t padding) {
    client.Send(
        Post("/api/query", R"({"start":1699999999,"end":1700000060,"showQuery":true,"queries":[)"
                           R"({"aggregator":"sum","metric":"m","filters":[{"type":"wildcard",)"
                           R"("tagk":"host","filter":"*","groupBy":true}]}]})" +
                               std::string(padding, ' ')));
    CHECK(client.ReadResponse().status() == 200);
  };
  ask(0);
  CHECK(edge.points.scans_on_loop == 1);
  CHECK(edge.points.scans == 1);
  ask(12'000);  // this attempt on the loop ends before it prints
  CHECK(edge.points.scans_on_loop == 2);
  CHECK(edge.points.scans == 3);
}

TEST_CASE("a query that the event loop gave up is not parsed and validated again") {
  EdgeFixture edge;
  REQUIRE(edge.Post("/api/put", Points(3)).status == 204);
  const std::string_view asked =
      R"({"start":"3h-ago","queries":[{"aggregator":"sum","metric":"m"}]})";
  const BufferResponse expected = edge.Post("/api/query", asked);
  REQUIRE(expected.body.find("1700000002") != std::string::npos);

  edge.points.reads_ask = edge.points.scans_wait = true;
  std::string body(asked);
  Request request = MakeRequest("POST", "/api/query", body);
  {
    BufferResponse nowhere;
    request.on_loop = true;
    Dispatch(request, edge.services, nowhere);
    REQUIRE(request.refused);
    request.on_loop = false;
  }
  REQUIRE(request.kept_work != nullptr);
  body.assign(body.size(), ' ');
  BufferResponse answer;
  Dispatch(request, edge.services, answer);
  CHECK(answer.status == 200);
  CHECK(answer.body == expected.body);
  CHECK(request.kept_work == nullptr);
  REQUIRE(edge.queries.running().Completed().size() == 1);
  CHECK(edge.queries.running().Completed()[0]->executed == 2);

  // The validated form of a large query takes more memory than its text, and would be held while it
  // waits.
  const std::string padded = std::string(asked) + std::string(4096, ' ');
  Request large = MakeRequest("POST", "/api/query", padded);
  {
    BufferResponse nowhere;
    large.on_loop = true;
    Dispatch(large, edge.services, nowhere);
    REQUIRE(large.refused);
    large.on_loop = false;
  }
  CHECK(large.kept_work == nullptr);
  BufferResponse whole;
  Dispatch(large, edge.services, whole);
  CHECK(whole.body == expected.body);
}

TEST_CASE("small PromQL queries run on the event loop and others on the pool, each once") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", Points(3)));
  REQUIRE(client.ReadResponse().status() == 204);
  const auto ask = [&](const std::string& path) {
    client.Send("GET /api/v1/" + path + " HTTP/1.1\r\n\r\n");
    const auto answer = client.ReadResponse();
    CAPTURE(answer.body);
    CHECK(answer.status() == 200);
    return answer.body;
  };
  const std::string now = "query?query=m&time=1700000003";
  const std::string range = "query_range?query=m&start=1700000000&end=1700000060&step=10";
  const std::string of_now = ask(now), of_range = ask(range);
  CHECK(of_now.find("[1700000003,\"") != std::string::npos);
  CHECK(of_range.find("[1700000010,\"") != std::string::npos);
  CHECK(edge.points.scans_on_loop == 0);

  edge.points.reads_ask = true;
  CHECK(ask(now) == of_now);
  CHECK(ask(range) == of_range);
  CHECK(edge.points.scans_on_loop == 2);
  CHECK(edge.points.scans == 4);

  edge.points.scans_wait = true;
  CHECK(ask(now) == of_now);
  CHECK(ask(range) == of_range);
  CHECK(edge.points.scans_on_loop == 4);
  CHECK(edge.points.scans == 6);

  // Compiling a pattern takes time before anything is scanned.
  CHECK(ask("query?query=m%7Bhost=~%22.%2B%22%7D&time=1700000003") == of_now);
  CHECK(edge.points.scans_on_loop == 4);
  CHECK(edge.counters.query_success == 7);
  CHECK(edge.counters.query_exceptions == 0);
  CHECK(edge.counters.query_invalid == 0);
}

TEST_CASE("a PromQL query with little input and a large result runs on the pool") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  for (const char* host : {"a", "b", "c", "d", "e"}) {
    client.Send(Post("/api/put", PointAt(1700000000, host)));
    REQUIRE(client.ReadResponse().status() == 204);
  }
  const auto ask = [&](const std::string& path) {
    client.Send("GET /api/v1/" + path + " HTTP/1.1\r\n\r\n");
    const auto answer = client.ReadResponse();
    CHECK(answer.status() == 200);
    return answer.body;
  };
  // Each sample is used at some ten thousand steps.
  const std::string all =
      "query_range?query=m&start=1700000000&end=1700010000&step=1&lookback_delta=1d";
  const std::string on_pool = ask(all);
  edge.points.reads_ask = true;
  edge.points.scans = 0;
  CHECK(ask(all) == on_pool);
  CHECK(edge.points.scans_on_loop == 1);
  CHECK(edge.points.scans == 2);
  // This query has the same number of steps, but few of them have a sample.
  ask("query_range?query=m&start=1700000000&end=1700010000&step=1&lookback_delta=10");
  CHECK(edge.points.scans_on_loop == 2);
  CHECK(edge.points.scans == 3);
  CHECK(edge.counters.query_success == 3);
}

TEST_CASE("a PromQL query that reads the same points very often leaves the event loop") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", Points(1)));
  REQUIRE(client.ReadResponse().status() == 204);
  edge.points.reads_ask = true;
  constexpr int kSelectors = 400;
  std::string query = "/api/v1/query?time=1700000000&query=m";
  for (int i = 1; i < kSelectors; ++i) query += "%2Bm";
  client.Send("GET " + query + " HTTP/1.1\r\n\r\n");
  CHECK(client.ReadResponse().body.find("\"400\"") != std::string::npos);
  CHECK(edge.points.scans_on_loop > 0);
  CHECK(edge.points.scans_on_loop < kSelectors / 2);
  CHECK(edge.points.scans == edge.points.scans_on_loop + kSelectors);
}

TEST_CASE("a client that pipelines requests does not delay the request of another client") {
  RunningServer edge([](Options& options) { options.loop_threads = 1; });
  ClientSocket many(edge.server.port()), one(edge.server.port());
  for (ClientSocket* client : {&many, &one}) {
    client->Send(Post("/api/put", PointAt(1700000000)));
    REQUIRE(client->ReadResponse().status() == 204);
  }
  // The loop stores the first point of `many`, then those of `one`.
  const std::atomic<uint64_t>& heads = edge.counters.rpc_http;
  uint64_t began = 0, between = 0;
  edge.points.before_append = [&, appends = 0]() mutable {
    if (++appends == 1) {
      began = heads;
      one.Send(Post("/api/put", PointAt(1700000001)));
    } else {
      between = heads - began;
    }
  };
  constexpr int kRefused = 500;
  std::string requests = Post("/api/put", PointAt(1700000002));
  for (int i = 0; i < kRefused; ++i) requests += "GET /api/version?a=%zz HTTP/1.1\r\n\r\n";
  many.Send(requests);
  CHECK(one.ReadResponse().status() == 204);
  CHECK(many.ReadResponse().status() == 204);
  for (int i = 0; i < kRefused; ++i) CHECK(many.ReadResponse().status() == 400);
  edge.points.before_append = {};
  CHECK(between > 0);
  CHECK(between < 10);
}

TEST_CASE("pipelined queries are answered in order, and other connections are served in between") {
  RunningServer edge;
  edge.points.reads_ask = true;
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", Points(1)));
  REQUIRE(client.ReadResponse().status() == 204);
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += "GET /api/query?start=1699999999&end=170006" + std::to_string(1000 + i) +
                "&m=sum:m&jsonp=f" + std::to_string(i) + " HTTP/1.1\r\n\r\n";
  }
  client.Send(requests);
  for (int i = 0; i < 50; ++i) {
    CAPTURE(i);
    CHECK(client.ReadResponse().body.starts_with("f" + std::to_string(i) + "("));
  }
}

}  // namespace
}  // namespace hg::http
