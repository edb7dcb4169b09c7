// Clients that read slowly, or not at all.

#include <doctest/doctest.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "http/wire/body_coding.h"
#include "query/request/running_requests.h"
#include "tests/http/running_server.h"

namespace hg::http {
namespace {

/// Returns when `count` is positive and has stopped growing.
void WaitUntilSteady(const std::atomic<int>& count) {
  for (int before = -1; before != count.load() || before == 0;) {
    before = count.load();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

TEST_CASE("a response larger than the buffer is streamed, also compressed and to a slow client") {
  RunningServer edge;
  const std::string body = RefusedPoints(20000);
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put?details", body));
  const auto response = client.ReadResponse();
  CHECK(response.status() == 400);
  CHECK(response.body.size() > 2000000);
  CHECK(response.body.ends_with("\"Unable to parse value to a number\"}]}"));
  client.Send(Post("/api/put?details", body, "Accept-Encoding: gzip\r\n"));
  std::string unpacked;
  REQUIRE(UnpackBody(ContentCoding::kGzip, client.ReadResponse().body, 1 << 24, 0, &unpacked,
                     nullptr, RequestContext::Unlimited())
              .ok());
  CHECK(unpacked == response.body);
}

TEST_CASE("clients that stop reading are disconnected, and other long requests are not") {
  RunningServer edge([](Options& options) { options.loop_threads = 1; });
  // There are as many clients that do not read as threads of the write pool.
  ClientSocket deaf[2] = {ClientSocket(edge.server.port(), 4096),
                          ClientSocket(edge.server.port(), 4096)};
  for (ClientSocket& client : deaf) client.Send(Post("/api/put?details", RefusedPoints(80000)));
  CHECK(AgeUntil(edge, 61'000, [&] { return edge.counters.exceptions_timeout.load() == 2; }));

  edge.points.Hold();
  ClientSocket patient(edge.server.port());
  patient.Send(Post("/api/put?summary", Points(3)));
  while (edge.points.held() == 0) std::this_thread::yield();
  ClientSocket idle(edge.server.port());
  idle.Send(kGetVersion);
  CHECK(idle.ReadResponse().status() == 200);
  ClientSocket third(edge.server.port(), 4096);
  third.Send(Post("/api/put?details", RefusedPoints(80000)));
  CHECK(AgeUntil(edge, 61'000, [&] { return edge.counters.exceptions_timeout.load() == 3; }));
  edge.points.Release({});
  CHECK(patient.ReadResponse().body == R"({"success":3,"failed":0})");
  idle.Send(kGetVersion);
  CHECK(idle.ReadResponse().status() == 200);
}

TEST_CASE(
    "a client that reads a little now and then is disconnected, one that reads slowly is not") {
  RunningServer edge([](Options& options) { options.loop_threads = 1; });
  const std::string request =
      Post("/api/put?details", RefusedPoints(80000), "Connection: close\r\n");
  ClientSocket trickle(edge.server.port(), 4096);
  trickle.Send(request);
  CHECK(AgeUntil(edge, 5'000, [&] {
    return !trickle.Skip(8192) || edge.counters.exceptions_timeout.load() == 1;
  }));
  // This client reads some kilobytes per second, for minutes.
  ClientSocket slow(edge.server.port());
  slow.Send(request);
  std::string reply;
  for (int i = 0; i < 6; ++i) {
    reply += slow.Read(256 * 1024);
    edge.clock.AdvanceMs(30'000);
    // The server checks once per second.
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  }
  reply += slow.ReadAll();
  CHECK(reply.ends_with("to a number\"}]}\r\n0\r\n\r\n"));
  CHECK(edge.counters.exceptions_timeout.load() == 1);
}

TEST_CASE(
    "a client that does not finish a request is disconnected; between requests and within "
    "lines it may be idle") {
  RunningServer edge([](Options& options) { options.loop_threads = 1; });
  ClientSocket idle(edge.server.port()), silent(edge.server.port()), lines(edge.server.port());
  idle.Send(kGetVersion);
  CHECK(idle.ReadResponse().status() == 200);
  lines.Send("put m 17");
  ClientSocket half[3] = {ClientSocket(edge.server.port()), ClientSocket(edge.server.port()),
                          ClientSocket(edge.server.port())};
  half[0].Send("POST /api/put HTTP/1.1\r\nA: b");
  half[1].Send("POST /api/put HTTP/1.1\r\nContent-Length: 1000\r\n\r\n[{");
  half[2].Send("POST /api/put HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab");
  CHECK(AgeUntil(edge, 61'000, [&] { return edge.counters.exceptions_timeout.load() == 3; }));
  for (ClientSocket& client : half) CHECK(client.ReadAll().empty());
  idle.Send(kGetVersion);
  CHECK(idle.ReadResponse().status() == 200);
  silent.Send(kGetVersion);
  CHECK(silent.ReadResponse().status() == 200);
  lines.Send("00000000 1 host=a\n");
  CHECK(AgeUntil(edge, 0, [&] { return edge.Cells().size() == 1; }));
  CHECK(edge.counters.exceptions_timeout.load() == 3);
}

TEST_CASE("a body that arrives slowly is accepted, and one that hardly arrives is not") {
  RunningServer edge([](Options& options) { options.loop_threads = 1; });
  const std::string request = Post("/api/put", Points(8000) + std::string(20000, ' '));
  const size_t piece = request.size() / 6;
  CHECK(piece > 64 * 1024);
  ClientSocket slow(edge.server.port()), trickle(edge.server.port());
  for (size_t i = 0; i < 6; ++i) {
    slow.Send(std::string_view(request).substr(i * piece, i < 5 ? piece : std::string::npos));
    if (i < 2) trickle.Send(request.substr(i * 1000, 1000));
    if (i == 5) break;
    edge.clock.AdvanceMs(40'000);
    // The server checks once per second.
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  }
  CHECK(slow.ReadResponse().status() == 204);
  CHECK(trickle.ReadAll().empty());
  CHECK(edge.counters.exceptions_timeout.load() == 1);
}

TEST_CASE("clients that do not read do not block handler threads of others") {
  RunningServer edge;
  ClientSocket deaf[4] = {
      ClientSocket(edge.server.port(), 4096), ClientSocket(edge.server.port(), 4096),
      ClientSocket(edge.server.port(), 4096), ClientSocket(edge.server.port(), 4096)};
  for (ClientSocket& client : deaf) client.Send(Post("/api/put?details", RefusedPoints(80000)));
  ClientSocket other(edge.server.port());
  other.Send(Post("/api/put?details", RefusedPoints(1)));
  CHECK(other.ReadResponse().status() == 400);
}

TEST_CASE("writes with long bodies do not block handler threads of other writes") {
  RunningServer edge;
  std::atomic<int> held{0};
  std::atomic<bool> go_on{false};
  constexpr int kLong = 4;  // more than the threads for writes
  edge.points.before_register = [&]() -> Status {
    if (held.fetch_add(1) < kLong)
      while (!go_on.load()) std::this_thread::yield();
    return {};
  };
  std::vector<std::unique_ptr<ClientSocket>> clients;
  for (int i = 0; i < kLong; ++i) {
    clients.push_back(std::make_unique<ClientSocket>(edge.server.port()));
    const std::string name = "series" + std::to_string(i);
    clients.back()->Send(
        Post("/write?precision=s", name + " v=1 1\n" + std::string(1 << 20, '\n')));
  }
  while (held.load() < kLong) std::this_thread::yield();
  ClientSocket other(edge.server.port());
  other.Send(Post("/write?precision=s", "other v=1 1\n"));
  CHECK(other.ReadResponse().status() == 204);
  go_on = true;
  for (const auto& client : clients) CHECK(client->ReadResponse().status() == 204);
}

TEST_CASE("replies wait for their clients although idle clients hold the memory of kept buffers") {
  RunningServer edge([](Options& options) {
    options.loop_threads = 1;
    options.request_memory_bytes_max = 8 << 20;
  });
  edge.points.reads_ask = true;
  std::vector<std::unique_ptr<ClientSocket>> idle;
  for (int i = 0; i < 30; ++i) {
    idle.push_back(std::make_unique<ClientSocket>(edge.server.port()));
    idle.back()->Send(Post("/api/put", Points(3000)));
    REQUIRE(idle.back()->ReadResponse().status() == 204);
  }
  const std::string query =
      "GET /api/query?start=1699999999&end=1700060000&m=sum:m HTTP/1.1\r\n\r\n";
  idle[0]->Send(query);
  const std::string reply = idle[0]->ReadResponse().body;
  REQUIRE(reply.size() > 40'000);
  constexpr size_t kAsked = 200;  // far more than the system buffers for a socket
  std::string queries;
  for (size_t i = 0; i < kAsked; ++i) queries += query;
  ClientSocket slow(edge.server.port(), 4096);
  slow.Send(queries);
  for (int i = 0; i < 6000 && edge.points.scans_on_loop <= 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(edge.points.scans_on_loop > 1);
  WaitUntilSteady(edge.points.scans);
  CHECK(edge.points.scans < static_cast<int>(kAsked));
  for (size_t i = 0; i < kAsked; ++i) REQUIRE(slow.ReadResponse().body == reply);
}

TEST_CASE("a response can be ended by its id, and its client sees that it is incomplete") {
  RunningServer edge;
  ClientSocket other(edge.server.port());
  other.Send(Post("/api/put", Points(50000)));
  CHECK(other.ReadResponse().status() == 204);
  std::string target = "/api/query?start=1699999999&end=1700060000";
  for (const char* aggregator : {"sum", "min", "max", "avg", "none", "dev", "count", "zimsum",
                                 "mimmin", "mimmax", "first", "last", "median", "diff"}) {
    target += "&m=" + std::string(aggregator) + ":m";
  }
  for (const std::string version : {"HTTP/1.1", "HTTP/1.1\r\nConnection: close", "HTTP/1.0",
                                    "HTTP/1.0\r\nConnection: keep-alive"}) {
    CAPTURE(version);
    ClientSocket deaf(edge.server.port(), 4096);
    deaf.Send("GET " + target + " " + version + "\r\n\r\n");
    query::RunningRequests& queries = edge.queries.running();
    std::vector<query::RunningRequestInfo> running;
    while ((running = queries.Running()).empty() ||
           running[0].phase != query::RequestPhase::kAnswering) {
      std::this_thread::yield();
    }
    // The head with the status was sent, so from now on the response can only be cut.
    std::string answer = deaf.Read(1);
    other.Send("DELETE /api/stats/query?id=" + std::to_string(running[0].id) + " HTTP/1.1\r\n\r\n");
    CHECK(other.ReadResponse().status() == 204);
    while (!queries.Running().empty()) std::this_thread::yield();
    CHECK(queries.budget().taken() == 0);
    answer += deaf.ReadAll();
    CHECK(answer.starts_with("HTTP/1.1 200 OK"));
    const bool chunked = answer.find("\r\nTransfer-Encoding: chunked\r\n") != std::string::npos;
    CHECK(chunked == version.starts_with("HTTP/1.1"));
    CHECK_FALSE(answer.ends_with("0\r\n\r\n"));
    CHECK((chunked || deaf.reset()));
  }
}

TEST_CASE("telnet commands wait while their replies are not read, and none is lost") {
  for (const uint64_t memory : {0, 4}) {  // without a limit, and without memory for unread replies
    CAPTURE(memory);
    RunningServer edge([&](Options& options) { options.request_memory_bytes_max = memory; });
    std::atomic<int> asked{0};
    edge.services.collect_stats = [&](const auto& visit) {
      asked.fetch_add(1);
      for (int i = 0; i < 1000; ++i) visit("a.number.among.many", "", i);
    };
    // Responses of 50 KB each, far more than the system buffers for a socket.
    constexpr int kAsked = 400;
    ClientSocket client(edge.server.port(), 4096);
    std::string lines;
    for (int i = 0; i < kAsked; ++i) lines += "stats\n";
    client.Send(lines + "exit\n");
    WaitUntilSteady(asked);
    CHECK(asked.load() < kAsked / 2);
    const std::string text = client.ReadAll();
    size_t numbers = 0;
    for (size_t at = 0; (at = text.find("a.number.among.many", at)) != std::string::npos; ++at)
      ++numbers;
    CHECK(numbers == kAsked * 1000);
  }
}

TEST_CASE("clients that do not read telnet replies hold only a part of the memory for bodies") {
  RunningServer edge([](Options& options) { options.request_memory_bytes_max = 1 << 20; });
  std::atomic<int> asked{0};
  edge.services.collect_stats = [&](const auto& visit) {
    asked.fetch_add(1);
    for (int i = 0; i < 50; ++i) visit("a.number.among.many", "", i);
  };
  const auto held = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  std::string lines;
  while (lines.size() < 12'000) lines += "stats\n";
  std::vector<std::unique_ptr<ClientSocket>> clients;
  const size_t before = held();
  constexpr size_t kClients = 50;
  for (size_t i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<ClientSocket>(edge.server.port(), 4096));
    clients.back()->Send(lines);
  }
  WaitUntilSteady(asked);
  constexpr size_t kMost = 3 << 20;  // without a limit, 5 MB
  CHECK(held() < before + kMost);
  ClientSocket reader(edge.server.port());
  reader.Send("version\nexit\n");
  CHECK(reader.ReadAll().find("net.opentsdb") != std::string::npos);
}

TEST_CASE("a telnet writer that never reads its replies is delayed only briefly") {
  RunningServer edge([](Options& options) { options.loop_threads = 1; });
  ClientSocket client(edge.server.port(), 4096);
  std::thread writer([&] {
    std::string lines;
    for (int i = 0; i < 200000; ++i) lines += "put m 170000000x 1 host=a\n";
    client.Send(lines + "put m 1700000000 1 host=a\n");
  });
  CHECK(AgeUntil(edge, 6'000, [&] { return !edge.Cells().empty(); }));
  edge.server.Stop();
  writer.join();
}

}  // namespace
}  // namespace hg::http
