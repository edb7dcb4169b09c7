// The server as a whole: start and stop, number and lifetime of connections, and its behaviour if
// the store is busy, the log cannot be written or memory is short.

#include <doctest/doctest.h>

#include <new>
#include <thread>

#include "tests/fault/starve.h"
#include "tests/http/running_server.h"

namespace hg::http {
namespace {

TEST_CASE("a client that sends and half-closes gets its response, over HTTP and telnet") {
  RunningServer edge;
  for (const std::string& request :
       {std::string(kGetVersion), std::string("version\n"), Post("/api/put?summary", Points(5))}) {
    ClientSocket client(edge.server.port());
    client.Send(request);
    client.HalfClose();
    CHECK_FALSE(client.ReadAll().empty());
  }
}

TEST_CASE("telnet lines wait for a busy store, and HTTP requests get 503") {
  RunningServer edge;
  ClientSocket web(edge.server.port());
  web.Send(Post("/api/put", PointAt(1700000000)));
  CHECK(web.ReadResponse().status() == 204);
  edge.points.RefuseAppends(1);
  web.Send(Post("/api/put", PointAt(1700000001)));
  const auto busy = web.ReadResponse();
  CHECK(busy.status() == 503);
  CHECK(busy.head.find("Retry-After: ") != std::string::npos);
  CHECK(busy.body.starts_with(R"({"error":{"code":503,)"));

  ClientSocket lines(edge.server.port());
  lines.Send("put m 1700000002 1 host=a\nversion\n");
  lines.Read(11);
  edge.points.RefuseAppends(3);
  lines.Send("put m 1700000003 1 host=a\n");
  while (edge.Cells().size() < 3) std::this_thread::yield();
}

TEST_CASE(
    "nothing is acknowledged before it is in the log, and one commit serves points that "
    "came together") {
  RunningServer edge([](Options& options) { options.loop_threads = 1; });
  ClientSocket first(edge.server.port());
  first.Send(Post("/api/put", PointAt(1700000000)));
  CHECK(first.ReadResponse().status() == 204);
  edge.points.Hold();
  first.Send(Post("/api/put", PointAt(1700000001)) + std::string(kGetVersion));
  while (edge.points.held() == 0) std::this_thread::yield();
  edge.points.Release({});
  CHECK(first.ReadResponse().status() == 204);
  CHECK(first.ReadResponse().status() == 200);

  edge.points.Hold();
  first.Send(Post("/api/put", PointAt(1700000002)));
  while (edge.points.held() == 0) std::this_thread::yield();
  edge.points.Release(Status::IoError("the log is full"));
  CHECK(first.ReadResponse().status() == 500);
}

TEST_CASE("idle HTTP and telnet connections are closed after the timeout, and busy ones are not") {
  RunningServer edge([](Options& options) {
    options.loop_threads = 1;
    options.idle_timeout_s = 30;
  });
  ClientSocket web(edge.server.port()), lines(edge.server.port()), busy(edge.server.port());
  web.Send(kGetVersion);
  CHECK(web.ReadResponse().status() == 200);
  lines.Send("version\n");
  lines.Read(11);
  edge.points.Hold();
  busy.Send(Post("/api/put", PointAt(1700000000)));
  while (edge.points.held() == 0) std::this_thread::yield();
  CHECK(AgeUntil(edge, 31'000, [&] { return edge.counters.exceptions_timeout.load() == 2; }));
  CHECK(web.ReadAll().empty());
  CHECK(lines.ReadAll().starts_with("b.tools"));
  edge.points.Release({});
  CHECK(busy.ReadResponse().status() == 204);
}

TEST_CASE("a request that runs out of memory gets 500, and the daemon continues") {
  RunningServer edge;
  ClientSocket web(edge.server.port());
  edge.points.ThrowOnAppends(1);
  web.Send(Post("/api/put", PointAt(1700000000)));
  const auto response = web.ReadResponse();
  CHECK(response.status() == 500);
  CHECK(response.body.find("std::bad_alloc") != std::string::npos);
  web.Send(Post("/api/put", PointAt(1700000000)));
  CHECK(web.ReadResponse().status() == 204);
  CHECK(edge.counters.rpc_exceptions.load() == 1);

  SUBCASE("telnet lines on the slow path: their connection is closed") {
    edge.points.ThrowOnAppends(1);
    ClientSocket lines(edge.server.port());
    lines.Send("put new 1700000000 1 host=a\n");
    CHECK(lines.ReadAll().empty());
    CHECK(edge.counters.rpc_exceptions.load() == 2);
  }
  SUBCASE("a request on a loop: the connection is closed") {
    edge.points.ThrowOnAppends(1);
    ClientSocket other(edge.server.port());
    other.Send(Post("/api/put", PointAt(1700000001)));
    CHECK(other.ReadAll().empty());
    while (edge.counters.exceptions_unknown.load() == 0) std::this_thread::yield();
  }
  SUBCASE("a request of another endpoint") {
    edge.services.collect_stats = [](const auto&) { throw std::bad_alloc(); };
    web.Send("GET /api/stats HTTP/1.1\r\n\r\n");
    CHECK(web.ReadResponse().status() == 500);
  }
  web.Send(Post("/api/put", PointAt(1700000002)));
  CHECK(web.ReadResponse().status() == 204);
}

TEST_CASE(
    "if memory runs out while a commit is reported, at most the connection of the write closes") {
  RunningServer edge;
  ClientSocket web(edge.server.port());
  web.Send(Post("/api/put", PointAt(1700000000)));
  CHECK(web.ReadResponse().status() == 204);
  SUBCASE("on the event loop") {
    edge.points.before_done = [] { internal::AllocationsLeft() = 0; };
    web.Send(Post("/api/put?details", PointAt(1700000001)));
    CHECK(web.ReadAll().empty());
    CHECK(edge.counters.exceptions_unknown.load() == 1);
  }
  SUBCASE("on another thread, which cannot tell the event loop at once") {
    edge.points.Hold();
    web.Send(Post("/api/put", PointAt(1700000001)));
    while (edge.points.held() == 0) std::this_thread::yield();
    internal::AllocationsLeft() = 0;
    edge.points.Release({});
    internal::AllocationsLeft() = -1;
    CHECK(web.ReadResponse().status() == 204);
  }
  edge.points.before_done = nullptr;
  CHECK(edge.points.thrown_by_done.load() == 0);
  ClientSocket next(edge.server.port());
  next.Send(Post("/api/put", PointAt(1700000002)));
  CHECK(next.ReadResponse().status() == 204);
}

TEST_CASE("connections above the limit are closed without a reply") {
  RunningServer edge([](Options& options) { options.connections_max = 1; });
  ClientSocket first(edge.server.port());
  first.Send(kGetVersion);
  CHECK(first.ReadResponse().status() == 200);
  ClientSocket second(edge.server.port());
  CHECK(second.ReadAll().empty());
  CHECK(edge.counters.connections_rejected.load() == 1);
  first.Send(kGetVersion);
  CHECK(first.ReadResponse().status() == 200);
}

TEST_CASE("Stop closes idle connections and completes running requests") {
  // A stop that takes longer than 3 s, for example on a machine that stalls, sends no response.
  std::string response;
  for (int tries = 0; tries < 20 && response.empty(); ++tries) {
    RunningServer edge;
    ClientSocket idle(edge.server.port()), lines(edge.server.port()), busy(edge.server.port());
    lines.Send("version\n");
    lines.Read(11);
    edge.points.Hold();
    busy.Send(Post("/api/put", PointAt(1700000000)));
    while (edge.points.held() == 0) std::this_thread::yield();
    std::thread stopper([&] { edge.server.Stop(); });
    idle.ReadAll();
    lines.ReadAll();
    edge.points.Release({});
    response = busy.ReadAll();
    stopper.join();
    CHECK(edge.Cells().size() == 1);
  }
  CHECK(response.starts_with("HTTP/1.1 204 "));
  CHECK(response.find("\r\n\r\n") + 4 == response.size());  // nothing follows the headers
}

TEST_CASE("a host name is accepted as address, and an invalid one is named in the error") {
  RunningServer edge([](Options& options) { options.bind = "localhost"; });
  ClientSocket client(edge.server.port());
  client.Send(kGetVersion);
  CHECK(client.ReadResponse().status() == 200);
  EdgeFixture other;
  other.options.bind = "not a host";
  Server second(other.options, other.services);
  const Status status = second.Start();
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.message().find("\"not a host\"") != std::string_view::npos);
}

TEST_CASE("a port in use is reported") {
  RunningServer edge;
  EdgeFixture other;
  other.options.port = edge.server.port();
  Server second(other.options, other.services);
  const Status status = second.Start();
  CHECK(status.code() == StatusCode::kIoError);
  CHECK(status.message().find(std::to_string(edge.server.port())) != std::string_view::npos);
}

}  // namespace
}  // namespace hg::http
