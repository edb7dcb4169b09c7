// The telnet protocol over a socket.

#include <doctest/doctest.h>
#include <malloc.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/http/running_server.h"

namespace hg::http {
namespace {

// Returns put lines of 250,000 bytes together.
std::string ManyLines() {
  std::string lines;
  while (lines.size() < 250'000) lines += "put m 1700000000 1 host=a\n";
  return lines;
}

// Returns the bytes that the process has allocated.
size_t HeldBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

const Status kCannotWrite =
    Status::Unavailable("the log cannot be written to for now: no space left on device");

TEST_CASE("points of a client that writes lines and closes at once are stored") {
  RunningServer edge;
  {
    ClientSocket client(edge.server.port());
    client.Send("put m 1700000000 1 host=a\nput m 1700000001 1 host=a\n");
    client.Close();
  }
  while (edge.Cells().size() < 2) std::this_thread::yield();
}

TEST_CASE("clients that wait within a line hold only a part of the memory for bodies") {
  RunningServer edge([](Options& options) { options.request_memory_bytes_max = 4 << 20; });
  const std::string lines = ManyLines();
  std::vector<std::unique_ptr<ClientSocket>> clients;
  const size_t before = HeldBytes();
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<ClientSocket>(edge.server.port()));
    clients.back()->Send(lines + "version\nput m 17");
    CHECK(clients.back()->Read(11) == "net.opentsd");
  }
  constexpr size_t kMost = 8 << 20;  // without a limit, 25 MB
  CHECK(AgeUntil(edge, 0, [&] { return HeldBytes() < before + kMost; }));
  clients.back()->Send("00000001 1 host=a\nexit\n");
  CHECK(clients.back()->ReadAll().find("invalid") == std::string::npos);
}

TEST_CASE(
    "a client that sends requests faster than they are handled fills no buffer of the server") {
  RunningServer edge;
  for (const std::string request : {"help\n", "GET /api/aggregators HTTP/1.1\r\n\r\n"}) {
    CAPTURE(request);
    std::string requests;
    while (requests.size() < 64 << 10) requests += request;
    ClientSocket client(edge.server.port());
    std::atomic<bool> enough = false;
    std::atomic<size_t> sent = 0;
    std::thread sender([&] {
      for (; !enough; sent += requests.size()) client.Send(requests);
    });
    // The requests of these replies have a few megabytes. The sockets hold some more.
    CHECK(client.Skip(64 << 20));
    CHECK(sent < 32 << 20);
    enough = true;
    client.HalfClose();
    sender.join();
  }
}

TEST_CASE("clients whose lines wait for the store hold only a part of the memory for bodies") {
  RunningServer edge([](Options& options) { options.request_memory_bytes_max = 4 << 20; });
  const std::string lines = ManyLines();
  std::vector<std::unique_ptr<ClientSocket>> clients;
  const size_t before = HeldBytes();
  constexpr size_t kClients = 100;
  for (size_t i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<ClientSocket>(edge.server.port()));
    clients.back()->Send(lines + "version\n");
    CHECK(clients.back()->Read(11) == "net.opentsd");
  }
  edge.points.RefuseAppends(1 << 30);
  for (const auto& client : clients) client->Send(lines);
  constexpr size_t kMost = 8 << 20;  // without a limit, 25 MB
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(HeldBytes() < before + kMost);
  }
  edge.points.RefuseAppends(0);
  clients.back()->Send("exit\n");
  CHECK(clients.back()->ReadAll().find("put") == std::string::npos);
}

TEST_CASE("telnet lines may arrive in pieces and with CRLF, and valid ones get no reply") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  for (const char* piece : {"put m 17000", "00000 1 host=a\r", "\nput m 1700000001 2 ho",
                            "st=a\nput m x 1 host=a\nexit\n"}) {
    client.Send(piece);
  }
  CHECK(client.ReadAll() == "put: invalid value: Invalid character 'x' in x\n");
  CHECK(edge.Cells().size() == 2);
}

TEST_CASE("many telnet lines of known series take the fast path, with one append per read") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  client.Send("put m 1700000000 1 host=a\nversion\n");
  CHECK(client.Read(11) == "net.opentsd");
  std::string lines;
  for (int i = 1; i <= 1000; ++i)
    lines += "put m " + std::to_string(1700000000 + i) + " 1 host=a\n";
  client.Send(lines + "exit\n");
  client.ReadAll();
  CHECK(edge.Cells().size() == 1001);
  CHECK(edge.points.appends.load() < 100);
}

TEST_CASE("a line without an end closes the connection") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  client.Send("put " + std::string(2000, 'x'));
  CHECK(client.ReadAll().empty());
}

TEST_CASE("lines wait for a busy store without a thread, however long, and none is lost") {
  RunningServer edge;
  edge.points.RefuseAppends(1 << 30);
  // More than the number of threads of the write pool.
  ClientSocket lines[3] = {ClientSocket(edge.server.port()), ClientSocket(edge.server.port()),
                           ClientSocket(edge.server.port())};
  int64_t time = 1700000000;
  for (ClientSocket& client : lines)
    client.Send("put m " + std::to_string(time++) + " 1 host=a\nput m x 1 host=a\nexit\n");
  while (edge.counters.put_writes_blocked.load() < 4) std::this_thread::yield();
  ClientSocket web(edge.server.port());
  web.Send(Post("/api/put", PointAt(1700000009, "new")));
  CHECK(web.ReadResponse().status() == 503);
  edge.points.RefuseAppends(0);
  for (ClientSocket& client : lines)
    CHECK(client.ReadAll() == "put: invalid value: Invalid character 'x' in x\n");
  CHECK(edge.Cells().size() == 3);
}

TEST_CASE("lines wait while the log cannot be written, and none is lost") {
  RunningServer edge;
  edge.points.RefuseAppends(1 << 30, kCannotWrite);
  ClientSocket listens(edge.server.port());
  listens.Send("put m 1700000000 1 host=a\nput m x 1 host=a\nexit\n");
  {
    ClientSocket goes(edge.server.port());
    goes.Send("put m 1700000001 1 host=a\n");
    goes.Close();
  }
  while (edge.counters.put_writes_blocked.load() < 6) std::this_thread::yield();
  CHECK(edge.Cells().empty());
  edge.points.RefuseAppends(0);
  CHECK(listens.ReadAll() == "put: invalid value: Invalid character 'x' in x\n");
  while (edge.Cells().size() < 2) std::this_thread::yield();
}

TEST_CASE(
    "the connection of a client that has closed while the log cannot be written is kept for "
    "one minute only") {
  RunningServer edge;
  edge.points.RefuseAppends(1 << 30, kCannotWrite);
  ClientSocket listens(edge.server.port());
  listens.Send("put m 1700000000 1 host=a\nexit\n");
  {
    ClientSocket goes(edge.server.port());
    goes.Send("put m 1700000001 1 host=a\n");
    while (edge.counters.put_writes_blocked.load() < 2) std::this_thread::yield();
    goes.Send("put m 1700000002 1 host=a\n");
    goes.Close();
  }
  const uint64_t before = edge.counters.put_writes_blocked.load();
  while (edge.counters.put_writes_blocked.load() < before + 4) std::this_thread::yield();
  CHECK(edge.counters.connections_open.load() == 2);
  CHECK(AgeUntil(edge, 20'000, [&] { return edge.counters.connections_open.load() == 1; }));
  edge.points.RefuseAppends(0);
  CHECK(listens.ReadAll().empty());
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE("lines whose commit fails are stored and committed again without a reply") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  client.Send("put m 1700000000 1 host=a\nversion\n");
  const std::string version = client.Read(11);
  edge.points.Hold();
  const int before = edge.points.appends.load();
  client.Send("put m 1700000001 1 host=a\n");
  while (edge.points.held() == 0) std::this_thread::yield();
  edge.points.Release(kCannotWrite);
  client.Send("exit\n");
  CHECK(client.ReadAll().find("put") == std::string::npos);
  CHECK(edge.points.appends.load() == before + 2);
  CHECK(edge.counters.put_writes_blocked.load() == 1);
  CHECK(edge.counters.points_added.load() == 2);
  CHECK(edge.counters.rpc_put.load() == 2);
  CHECK(edge.Cells().size() == 2);
}

TEST_CASE("lines of new series whose commit fails are counted once") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  edge.points.Hold();
  client.Send("put m 1700000000 1 host=new\nput m 1700000001 1 host=new\n");
  while (edge.points.held() == 0) std::this_thread::yield();
  edge.points.Release(kCannotWrite);
  client.Send("exit\n");
  CHECK(client.ReadAll().empty());
  CHECK(edge.counters.points_added.load() == 2);
  CHECK(edge.counters.rpc_put.load() == 2);
}

TEST_CASE("waiting lines do not prevent the server from stopping") {
  RunningServer edge;
  edge.points.RefuseAppends(1 << 30, kCannotWrite);
  ClientSocket client(edge.server.port());
  client.Send("put m 1700000000 1 host=a\n");
  while (edge.counters.put_writes_blocked.load() < 2) std::this_thread::yield();
  edge.server.Stop();
  CHECK(client.ReadAll().empty());
}

TEST_CASE("a stop ends the storing of lines between two of their points") {
  RunningServer edge;
  constexpr int kSeries = 500;  // one read of the server takes these lines
  std::atomic<int> registered{0};
  edge.points.before_register = [&registered] {
    ++registered;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return Status();
  };
  std::string lines;
  for (int i = 0; i < kSeries; ++i) lines += "put m 1700000000 1 h=" + std::to_string(i) + "\n";
  ClientSocket client(edge.server.port());
  client.Send(lines);
  while (registered.load() == 0) std::this_thread::yield();
  edge.server.Stop();
  CHECK(registered.load() < kSeries);
  CHECK(client.ReadAll().empty());
}

TEST_CASE("errors of the log are reported to telnet clients unless telnet_return_errors is off") {
  for (const bool said : {true, false}) {
    RunningServer edge([&](Options& options) { options.telnet_return_errors = said; });
    ClientSocket client(edge.server.port());
    client.Send("put m 1700000000 1 host=a\nversion\n");
    client.Read(11);
    edge.points.Hold();
    client.Send("put m 1700000001 1 host=a\n");
    while (edge.points.held() == 0) std::this_thread::yield();
    edge.points.Release(Status::IoError("the log is full"));
    client.Send("exit\n");
    CHECK((client.ReadAll().find("put: HBase error: the log is full\n") != std::string::npos) ==
          said);
  }
}

}  // namespace
}  // namespace hg::http
