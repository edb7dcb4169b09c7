#include "http/request/turn_watch.h"

#include <doctest/doctest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/server/server.h"
#include "tests/http/client_socket.h"
#include "tests/http/edge_fixture.h"
#include "tests/http/running_server.h"

namespace hg::http {
namespace {

int64_t cpu_ns = 0;  // what the injected CPU clock shows
int cpu_reads = 0;
int64_t ReadCpu() {
  ++cpu_reads;
  return cpu_ns;
}

/// A TurnWatch whose clocks change only when a turn changes them.
struct WatchedTurns : EdgeFixture {
  explicit WatchedTurns(TurnWatch::Measure measure, int cpu_ms_max = 0)
      : watch(measure, Prepared(cpu_ms_max), ReadCpu,
              [this](const std::string& message) { failures.push_back(message); }) {}

  Services& Prepared(int cpu_ms_max) {
    cpu_ns = 0;
    cpu_reads = 0;
    options.turn_cpu_ms_max = cpu_ms_max;
    services.warn = [this](const std::string& text) { lines.push_back(text); };
    return services;
  }
  void Take(int64_t wall_ms, int64_t cpu_ms, const std::string& doing = "GET /api/query") {
    const Turn turn(watch, [&] { return doing; });
    clock.AdvanceMs(wall_ms);
    cpu_ns += cpu_ms * 1'000'000;
  }

  std::vector<std::string> lines, failures;
  TurnWatch watch;
};

TEST_CASE("A turn of an event loop that takes more than 50 ms is counted and logged") {
  WatchedTurns turns(TurnWatch::Measure::kWallTime);
  turns.Take(50, 50);
  CHECK(turns.counters.loop_stalls == 0);
  turns.Take(73, 0);
  CHECK(turns.counters.loop_stalls == 1);
  CHECK(turns.counters.loop_stall_ms == 73);
  REQUIRE(turns.lines.size() == 1);
  CHECK(turns.lines[0] ==
        "an event loop was busy for 73 ms with GET /api/query; its other clients waited");
  CHECK(cpu_reads == 0);
}

TEST_CASE("Long turns are logged at most once in ten seconds, and all of them are counted") {
  WatchedTurns turns(TurnWatch::Measure::kWallTime);
  for (int i = 0; i < 90; ++i) turns.Take(100, 100);
  CHECK(turns.lines.size() == 1);
  turns.clock.AdvanceMs(10'000);
  turns.Take(60, 60, "POST /api/uid/assign");
  CHECK(turns.counters.loop_stalls == 91);
  CHECK(turns.counters.loop_stall_ms == 9060);
  REQUIRE(turns.lines.size() == 2);
  CHECK(turns.lines[1] ==
        "an event loop was busy for 60 ms with POST /api/uid/assign; its other clients waited "
        "(and 89 more times since the last line)");
}

TEST_CASE("A turn that takes more CPU time than tests allow fails and names the endpoint") {
  WatchedTurns turns(TurnWatch::Measure::kWallTime, 250);
  turns.Take(10'000, 250);  // the thread waited for a core
  CHECK(turns.failures.empty());
  turns.Take(0, 251, "GET /api/v1/query");
  REQUIRE(turns.failures.size() == 1);
  CHECK(turns.failures[0] ==
        "A turn of an event loop took 251 ms of CPU time for GET /api/v1/query; at most 250 ms are "
        "allowed (HOURGLASS_TURN_CPU_MS_MAX)");
}

TEST_CASE("A thread that waits for the store on purpose is watched by its CPU time") {
  WatchedTurns turns(TurnWatch::Measure::kCpuTime);
  turns.Take(5000, 50, "a Graphite frame");
  CHECK(turns.counters.loop_stalls == 0);
  turns.Take(5000, 51, "a Graphite frame");
  CHECK(turns.counters.loop_stalls == 1);
  CHECK(turns.counters.loop_stall_ms == 51);
  REQUIRE(turns.lines.size() == 1);
  CHECK(turns.lines[0] ==
        "an event loop was busy for 51 ms of CPU time with a Graphite frame; its other clients "
        "waited");
}

TEST_CASE("The name of an endpoint has no query string and a bounded length") {
  std::string text;
  SetEndpointText("GET", "/api/query?u=me&p=secret", &text);
  CHECK(text == "GET /api/query");
  SetEndpointText("POST", "/" + std::string(4000, 'x'), &text);
  CHECK(text.size() < 250);
}

/// A server with one loop, which keeps its log lines.
struct LoggingServer : EdgeFixture {
  LoggingServer() : server(Prepared(), services) { REQUIRE(server.Start().ok()); }
  ~LoggingServer() { server.Stop(); }

  const Options& Prepared() {
    options.port = 0;
    options.loop_threads = 1;
    services.warn = [this](const std::string& text) {
      const std::lock_guard lock(mutex);
      lines.push_back(text);
    };
    return options;
  }

  std::mutex mutex;
  std::vector<std::string> lines;
  Server server;
};

TEST_CASE("The server names the request that held up its event loop") {
  LoggingServer edge;
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", PointAt(1700000000)));
  REQUIRE(client.ReadResponse().status() == 204);
  // The store is slow for the next point: the clock advances while the loop appends it.
  edge.points.before_append = [&edge] { edge.clock.AdvanceMs(80); };
  client.Send(Post("/api/put?summary", PointAt(1700000001)));
  REQUIRE(client.ReadResponse().status() == 200);
  for (int i = 0; i < 6000 && edge.counters.loop_stall_ms == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(edge.counters.loop_stalls == 1);
  CHECK(edge.counters.loop_stall_ms == 80);
  const auto told = [&edge] {
    const std::lock_guard lock(edge.mutex);
    return !edge.lines.empty();
  };
  for (int i = 0; i < 6000 && !told(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::lock_guard lock(edge.mutex);
  REQUIRE(edge.lines.size() == 1);
  CHECK(edge.lines[0] ==
        "an event loop was busy for 80 ms with POST /api/put; its other clients waited");
}

}  // namespace
}  // namespace hg::http
