#pragma once
// A server that listens on a free port and uses a store in memory, and helpers that create requests
// for this server.

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "http/server/server.h"
#include "tests/http/client_socket.h"
#include "tests/http/edge_fixture.h"
#include "tests/support/sanitizer.h"

namespace hg::http {

/// The maximum CPU time of one turn of the event loop, in milliseconds. The limit is high, because
/// the store in memory takes many times as long per point as the engine. The script suites, whose
/// daemons use the engine, allow 250 ms (tests/support/daemon.py).
inline constexpr int kTurnCpuMsMax = kThreadSanitizer ? 20000 : 5000;

struct RunningServer : EdgeFixture {
  explicit RunningServer(const std::function<void(Options&)>& change = {})
      : server(Prepared(change), services) {
    REQUIRE(server.Start().ok());
  }
  ~RunningServer() { server.Stop(); }

  const Options& Prepared(const std::function<void(Options&)>& change) {
    options.port = 0;
    options.loop_threads = 2;
    options.worker_threads = 2;
    options.turn_cpu_ms_max = kTurnCpuMsMax;
    if (change) change(options);
    return options;
  }

  Server server;
};

inline std::string PointAt(int64_t time, std::string_view host = "a") {
  return R"({"metric":"m","timestamp":)" + std::to_string(time) + R"(,"value":1,"tags":{"host":")" +
         std::string(host) + "\"}}";
}

inline std::string Post(std::string_view target, std::string_view body,
                        std::string_view fields = {}) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(fields) + "\r\n" + std::string(body);
}

inline constexpr std::string_view kGetVersion = "GET /api/version HTTP/1.1\r\n\r\n";

/// Returns a JSON array of `count` points.
inline std::string Points(int count) {
  std::string body = "[";
  for (int i = 0; i < count; ++i) body += (i > 0 ? "," : "") + PointAt(1700000000 + i);
  return body + "]";
}

/// Returns a JSON array of `count` invalid points. With the parameter `details`, the response to
/// these points is many times larger than the buffer that the server keeps for a client that does
/// not read.
inline std::string RefusedPoints(int count) {
  std::string body = "[";
  for (int i = 0; i < count; ++i) {
    body += (i > 0 ? "," : "") +
            std::string(R"({"metric":"m","timestamp":1700000000,"value":"x","tags":{"host":"a"}})");
  }
  return body + "]";
}

/// Advances the clock of the server by `step_ms`, again and again, until `done` returns true.
/// Returns false if `done` still returns false after many steps.
inline bool AgeUntil(EdgeFixture& edge, int64_t step_ms, const std::function<bool()>& done) {
  for (int i = 0; i < 600; ++i) {
    if (done()) return true;
    edge.clock.AdvanceMs(step_ms);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return done();
}

}  // namespace hg::http
