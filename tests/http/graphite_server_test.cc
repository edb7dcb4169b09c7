#include "http/server/graphite_server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

#include "http/access/client_limits.h"
#include "storage/base/bytes.h"
#include "tests/http/client_socket.h"
#include "tests/http/edge_fixture.h"
#include "tests/http/running_server.h"

namespace hg::http {
namespace {

struct RunningGraphite : EdgeFixture {
  explicit RunningGraphite(uint32_t idle_timeout_s = 0, tsd::MetricLimitOptions metric = {},
                           ClientLimitOptions client = {},
                           uint64_t request_memory = uint64_t{1} << 30)
      : EdgeFixture(AllAutomatic(), metric),
        client_limits(client, clock),
        server(Prepared(idle_timeout_s, request_memory), services) {
    if (client.any()) services.client_limits = &client_limits;
    REQUIRE(server.Start().ok());
  }

  const Options& Prepared(uint32_t idle_timeout_s, uint64_t request_memory) {
    options.request_memory_bytes_max = request_memory;
    options.idle_timeout_s = idle_timeout_s;
    options.graphite_port = options.graphite_pickle_port = 0;
    services.warn = [this](const std::string& text) {
      const std::lock_guard lock(mutex);
      warnings.push_back(text);
    };
    return options;
  }
  /// Waits until the counter has reached the value. The test fails if this takes too long.
  void Await(const std::atomic<uint64_t>& counter, uint64_t value) {
    AwaitTrue([&] { return counter.load() >= value; });
    REQUIRE(counter.load() == value);
  }
  static void AwaitTrue(const std::function<bool()>& done) {
    for (int i = 0; i < 60'000 && !done(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE(done());
  }
  std::vector<std::string> Warnings() {
    const std::lock_guard lock(mutex);
    return warnings;
  }

  std::mutex mutex;
  std::vector<std::string> warnings;
  ClientLimits client_limits;
  GraphiteServer server;
};

std::string Frame(const std::string& pickle) {
  std::string frame;
  AppendBig(&frame, pickle.size(), 4);
  return frame + pickle;
}

std::vector<std::string> Sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

/// Returns the server's descriptor of the one connection to that port in this process; -1 = none.
int AcceptedSocket(uint16_t port) {
  for (int fd = 0; fd < 4096; ++fd) {
    sockaddr_in own{}, peer{};
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
        own.sin_port == htons(port) &&
        ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0) {
      return fd;
    }
  }
  return -1;
}

/// Limits the number of descriptors of the process while it exists.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t limit) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit now{limit, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

/// Returns one point each of `count` series, as lines or as a frame with a pickle.
std::string PointsOfSeries(int count, bool pickled) {
  std::string lines, pickle = "(";
  for (int i = 0; i < count; ++i) {
    lines += "a" + std::to_string(i) + " 1 1\n";
    pickle += "(Va" + std::to_string(i) + "\n(I1\nI1\ntt";
  }
  return pickled ? Frame(pickle + "t.") : lines;
}

}  // namespace

TEST_CASE(
    "lines are stored: a path is a metric with tags, and a path without tags gets the "
    "default tag") {
  RunningGraphite edge;
  ClientSocket client(edge.server.port());
  client.Send("web.load 1.5 1700000000\r\nweb.load;host=a 2 17000");
  client.Send("00001\n\nodd:path 3 -1\n");
  edge.Await(edge.counters.points_added, 3);
  CHECK(Sorted(*edge.names.Suggest(UidKind::kMetric, "", 10, nullptr)) ==
        std::vector<std::string>{"odd_x003A_path", "web.load"});
  CHECK(Sorted(*edge.names.Suggest(UidKind::kTagv, "", 10, nullptr)) ==
        std::vector<std::string>{"a", "unknown"});
  CHECK(edge.Cells().size() == 3);
  CHECK(edge.counters.rpc_graphite.load() == 3);
  CHECK(edge.Warnings().empty());
}

TEST_CASE(
    "a path with the default tag as its only tag is another series than a path without tags") {
  RunningGraphite edge;
  ClientSocket client(edge.server.port());
  client.Send("a 1 1700000000\na;source=unknown 2 1700000000\n");
  edge.Await(edge.counters.points_added, 2);
  CHECK(edge.Cells().size() == 2);
  CHECK(Sorted(*edge.names.Suggest(UidKind::kTagk, "", 10, nullptr)) ==
        std::vector<std::string>{"_x0073_ource", "source"});
}

TEST_CASE(
    "points of known paths are stored without looking at their names, in lines and in pickles") {
  RunningGraphite edge;
  std::atomic<int> looked_at{0};
  edge.points.before_register = [&looked_at] {
    ++looked_at;
    return Status();
  };
  const std::string lines = "a:b;host=x;dc=y 1 1700000000\nc 2 1700000000\n";
  ClientSocket client(edge.server.port());
  client.Send(lines);
  edge.Await(edge.counters.points_added, 2);
  CHECK(looked_at == 2);
  client.Send("c 3 1700000001\na:b;host=x;dc=y\t1.5 1700000001.25\nbad 4\nc 5 -1\n");
  edge.Await(edge.counters.points_added, 5);
  ClientSocket pickles(edge.server.pickle_port());
  pickles.Send(Frame("(l(Va:b;host=x;dc=y\n(I1700000002\nI1\ntta(Vc\n(I1700000002\nI1\ntta."));
  edge.Await(edge.counters.points_added, 7);
  CHECK(looked_at == 2);
  CHECK(edge.counters.put_illegal_arguments.load() == 1);
  CHECK(edge.Cells().size() == 7);
  edge.ingest.ForgetRawKeys();
  client.Send(lines);
  edge.Await(edge.counters.points_added, 9);
  CHECK(looked_at == 4);
  CHECK(edge.Cells().size() == 7);
  CHECK(edge.counters.rpc_graphite.load() == 9);
}

TEST_CASE("a path longer than the maximum is refused even if its metric and its tags are known") {
  RunningGraphite edge;
  const std::string metric(5000, 'a'), tags = ";b=" + std::string(5000, 'c');
  ClientSocket client(edge.server.port());
  client.Send(metric + " 1 1700000000\nd" + tags + " 1 1700000000\n");
  edge.Await(edge.counters.points_added, 2);
  client.Send(metric + tags + " 1 1700000001\n");
  edge.Await(edge.counters.put_illegal_arguments, 1);
  // The server logs a refused line after it has counted the line.
  edge.AwaitTrue([&] { return !edge.Warnings().empty(); });
  CHECK(edge.Warnings()[0].find("is longer than 8192 bytes") != std::string::npos);
  CHECK(edge.Cells().size() == 2);
}

TEST_CASE("a pickled path with a blank is not known to the plaintext protocol") {
  RunningGraphite edge;
  ClientSocket pickles(edge.server.pickle_port());
  pickles.Send(Frame("(l(Va\tb\n(I1700000000\nI1\ntta."));
  edge.Await(edge.counters.points_added, 1);
  ClientSocket client(edge.server.port());
  client.Send("a\tb 1 1700000001\n");
  edge.Await(edge.counters.put_illegal_arguments, 1);
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE(
    "an exception closes only its own connection and does not affect later points of others") {
  RunningGraphite edge;
  ClientSocket client(edge.server.port());
  client.Send("a 1 1700000000\n");
  edge.Await(edge.counters.points_added, 1);
  for (const char* lines : {"a 2 1700000001\n", "b 2 1700000001\n"}) {
    edge.points.ThrowOnAppends(1);
    ClientSocket thrown(edge.server.port());
    thrown.Send(lines);
    CHECK(thrown.ReadAll().empty());
  }
  client.Send("a 3 1700000002\n");
  edge.Await(edge.counters.points_added, 2);
  CHECK(edge.counters.exceptions_unknown.load() == 2);
  CHECK(edge.Cells().size() == 2);
}

TEST_CASE("frames of pickled points are stored, whatever pieces they arrive in") {
  RunningGraphite edge;
  const std::string frame =
      Frame("(l(Va\n(I1700000000\nI1\ntta.") + Frame("(l(Vb\n(I1700000000\nF2.5\ntta.");
  for (size_t piece : {frame.size(), size_t{7}, size_t{1}}) {
    ClientSocket client(edge.server.pickle_port());
    for (size_t at = 0; at < frame.size(); at += piece) client.Send(frame.substr(at, piece));
    client.HalfClose();
    CHECK(client.ReadAll().empty());
  }
  edge.Await(edge.counters.points_added, 6);
  CHECK(edge.Cells().size() == 2);
}

TEST_CASE("an invalid line loses only its own point and is logged") {
  RunningGraphite edge;
  ClientSocket client(edge.server.port());
  client.Send("a 1 1700000000\na x 1700000001\na 3 1700000002\n");
  edge.Await(edge.counters.points_added, 2);
  edge.Await(edge.counters.put_illegal_arguments, 1);
  CHECK(edge.Warnings() ==
        std::vector<std::string>{"graphite: the value \"x\" is no finite number"});
}

TEST_CASE("lines of points in a browser's HTTP or TLS request are not stored") {
  RunningGraphite edge;
  for (const std::string& bytes :
       {std::string("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
                    "a 1 1700000000\nb 2 1700000000\n"),
        std::string("\x16\x03\x01\x02\na 1 1700000000\n")}) {
    CAPTURE(bytes);
    ClientSocket client(edge.server.port());
    client.Send(bytes);
    CHECK(client.ReadAll().empty());
  }
  CHECK(edge.counters.points_added.load() == 0);
  CHECK(edge.Ids().empty());
}

TEST_CASE("an invalid pickle loses its frame, and a frame that is too long closes its connection") {
  RunningGraphite edge;
  ClientSocket client(edge.server.pickle_port());
  client.Send(Frame("cos\nsystem\n.") + Frame("(l(Va\n(I1700000000\nI1\ntta."));
  edge.Await(edge.counters.points_added, 1);
  CHECK(edge.counters.put_illegal_arguments.load() == 1);
  client.Send(std::string("\xff\xff\xff\xff", 4));
  CHECK(client.ReadAll().empty());
  ClientSocket lines(edge.server.port());
  lines.Send(std::string(GraphiteServer::kLineBytesMax + 1, 'a'));
  CHECK(lines.ReadAll().empty());
  CHECK(edge.counters.put_illegal_arguments.load() == 3);
}

TEST_CASE("an invalid path in a pickle loses only its own point") {
  RunningGraphite edge;
  ClientSocket client(edge.server.pickle_port());
  client.Send(Frame("(l(Va;b\n(I1700000000\nI1\ntta(Vc\n(I1700000000\nI1\ntta."));
  edge.Await(edge.counters.points_added, 1);
  edge.Await(edge.counters.put_illegal_arguments, 1);
  CHECK(edge.Warnings() ==
        std::vector<std::string>{"graphite: the tag \"b\" of the path \"a;b\" is no KEY=VALUE"});
}

TEST_CASE("a frame that names one long path many times is stored in parts") {
  RunningGraphite edge;
  edge.points.RefuseAppends(1);
  ClientSocket client(edge.server.pickle_port());
  std::string pickle = "((V" + std::string(500, 'a') + "\np0\n0";
  for (int i = 0; i < 10'000; ++i) pickle += "(g0\n(I1700000000\nI1\ntt";
  client.Send(Frame(pickle + "t."));
  edge.Await(edge.counters.points_added, 10'000);
  CHECK(edge.counters.put_writes_blocked.load() < 8'000);  // of the first piece only
}

TEST_CASE("the lines of a client are stored between the batches of another client's large frame") {
  RunningGraphite edge;
  ClientSocket lines(edge.server.port());
  lines.Send("a 1 1700000000\n");
  edge.Await(edge.counters.points_added, 1);
  constexpr int kSeries = 4'000;  // three batches
  int registered = 0;
  std::atomic<bool> begun{false}, sent{false}, stored_between{false};
  edge.points.before_register = [&] {
    ++registered;
    begun = true;
    while (registered == 1 && !sent) std::this_thread::yield();
    if (registered == kSeries) stored_between = edge.names.Find(UidKind::kMetric, "z").ok();
    return Status();
  };
  std::string pickle = "(";
  for (int i = 0; i < kSeries; ++i)
    pickle += "(V" + std::string(150, 'a') + std::to_string(i) + "\n(I1\nI1\ntt";
  ClientSocket frames(edge.server.pickle_port());
  frames.Send(Frame(pickle + "t."));
  while (!begun) std::this_thread::yield();
  lines.Send("z 1 1700000000\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  sent = true;
  edge.Await(edge.counters.points_added, kSeries + 2);
  CHECK(stored_between);
}

TEST_CASE(
    "the points of a large frame of invalid points are all refused, and the next frame is stored") {
  RunningGraphite edge;
  constexpr int kElements = 20'000;
  std::string pickle = "(";
  for (int i = 0; i < kElements; ++i) pickle += "(Va\n(Vx\nI1\ntt";
  ClientSocket client(edge.server.pickle_port());
  client.Send(Frame(pickle + "t.") + Frame("((Vb\n(I1700000000\nI1\nttt."));
  edge.Await(edge.counters.points_added, 1);
  CHECK(edge.counters.put_illegal_arguments.load() == kElements);
}

TEST_CASE("a line that is incomplete when the connection ends is not stored") {
  RunningGraphite edge;
  ClientSocket client(edge.server.port());
  client.Send("a 1 1700000000\na 2 17000");
  client.HalfClose();
  CHECK(client.ReadAll().empty());
  CHECK(edge.Cells().size() == 1);
  CHECK(edge.counters.put_illegal_arguments.load() == 1);
}

TEST_CASE("points wait while the store is busy, and are then stored once") {
  RunningGraphite edge;
  edge.points.RefuseAppends(3);
  ClientSocket client(edge.server.port());
  client.Send("a 1 1700000000\n");
  edge.Await(edge.counters.points_added, 1);
  CHECK(edge.Cells().size() == 1);
  CHECK(edge.counters.put_writes_blocked.load() == 3);
  edge.points.RefuseAppends(3);  // the path is known by then
  client.Send("a 2 1700000001\n");
  edge.Await(edge.counters.points_added, 2);
  CHECK(edge.Cells().size() == 2);
  CHECK(edge.counters.put_writes_blocked.load() == 6);
}

TEST_CASE("a point that the store can never accept loses only itself") {
  RunningGraphite edge;
  // The id of this metric has only one byte.
  REQUIRE(edge.store.Mutate("tsdb-uid", {{"bad", {PutCell("id", "metrics", "\x09")}}}).ok());
  ClientSocket client(edge.server.port());
  client.Send("bad 1 1700000000\na 1 1700000000\n");
  edge.Await(edge.counters.points_added, 1);
  client.Send("a 2 1700000001\n");
  edge.Await(edge.counters.points_added, 2);
  edge.server.Stop();
  CHECK(edge.counters.put_storage_errors.load() == 1);
  REQUIRE(edge.Warnings().size() == 1);
  CHECK(edge.Warnings()[0].find("Found id.length = 1") != std::string::npos);
}

TEST_CASE(
    "a metric over its rate loses only its own points, and a client over its limit only its own") {
  RunningGraphite edge(0, {.points_per_s = 2, .series_max = 0});
  ClientSocket client(edge.server.port());
  client.Send("busy 1 1700000000\nbusy 1 1700000001\nbusy 1 1700000002\nbusy 1 1700000003\n");
  edge.Await(edge.counters.points_added, 4);
  client.Send("calm 1 1700000000\nbusy 1 1700000004\nidle 1 1700000000\n");
  edge.Await(edge.counters.put_writes_blocked, 1);
  edge.Await(edge.counters.points_added, 6);
  CHECK(edge.Cells().size() == 6);
  REQUIRE(edge.Warnings().size() == 1);
  CHECK(edge.Warnings()[0].find("the metric busy takes no more than 2") != std::string::npos);

  RunningGraphite other(0, {}, {.points_per_s = 1, .new_series_per_hour = 0});
  ClientSocket writer(other.server.port());
  writer.Send("a 1 1700000000\na 1 1700000001\na 1 1700000002\n");
  other.Await(other.counters.points_added, 3);
  writer.Send("b 1 1700000000\n");
  other.AwaitTrue([&] { return !other.Warnings().empty(); });
  REQUIRE(other.Warnings().size() == 1);
  CHECK(other.Warnings()[0].find("address 127.0.0.1 may write 1 points a second") !=
        std::string::npos);
  CHECK(other.Cells().size() == 3);
}

TEST_CASE(
    "if one metric is over its rate, points of other metrics are stored, with or without a client "
    "limit") {
  RunningGraphite edge(0, {.points_per_s = 2, .series_max = 0},
                       {.points_per_s = 10, .new_series_per_hour = 0});
  ClientSocket client(edge.server.port());
  client.Send("busy 1 1700000000\nbusy 1 1700000001\nbusy 1 1700000002\nbusy 1 1700000003\n");
  edge.Await(edge.counters.points_added, 4);
  std::string lines = "busy 1 1700000004\n";
  for (int i = 0; i < 30; ++i) lines += "calm" + std::to_string(i) + " 1 1700000000\n";
  client.Send(lines);
  edge.Await(edge.counters.points_added, 34);
  edge.Await(edge.counters.put_writes_blocked, 1);
  client.Send("later 1 1700000000\nidle 1 1700000000\n");
  edge.Await(edge.counters.put_writes_blocked, 3);
  CHECK(edge.Cells().size() == 34);
  CHECK(edge.client_limits.refused_points() == 2);
}

TEST_CASE("connections stay open, and idle ones are closed after the timeout") {
  RunningGraphite edge(30);
  ClientSocket idle(edge.server.port());
  idle.Send("a 1 1700000000\n");
  edge.Await(edge.counters.points_added, 1);
  int kept_alive = 0;
  socklen_t size = sizeof kept_alive;
  REQUIRE(::getsockopt(AcceptedSocket(edge.server.port()), SOL_SOCKET, SO_KEEPALIVE, &kept_alive,
                       &size) == 0);
  CHECK(kept_alive == 1);
  CHECK(edge.counters.exceptions_timeout.load() == 0);
  CHECK(AgeUntil(edge, 31'000, [&] { return edge.counters.exceptions_timeout.load() == 1; }));
  CHECK(idle.ReadAll().empty());
}

TEST_CASE("connections beyond the limit are refused, counted and logged") {
  const DescriptorLimit room(4096);
  RunningGraphite edge;
  std::deque<ClientSocket> open;
  for (size_t i = 0; i < GraphiteServer::kConnectionsMax; ++i)
    open.emplace_back(edge.server.port());
  ClientSocket one_more(edge.server.port());
  CHECK(one_more.ReadAll().empty());
  CHECK(edge.counters.connections_rejected.load() == 1);
  CHECK(edge.Warnings() ==
        std::vector<std::string>{
            "graphite: a connection was refused, because 1024 connections are open"});
}

TEST_CASE("at the limit of connections, a new one replaces the one that has been silent longest") {
  const DescriptorLimit room(4096);
  RunningGraphite edge;
  std::deque<ClientSocket> open;
  for (size_t i = 0; i < GraphiteServer::kConnectionsMax; ++i) {
    open.emplace_back(edge.server.port()).Send("a 1 1700000000\n");
    edge.Await(edge.counters.points_added, i + 1);
  }
  edge.clock.AdvanceMs(1000 * GraphiteServer::kSilentS + 1);
  open.front().Send("a 1 1700000000\n");
  edge.Await(edge.counters.points_added, GraphiteServer::kConnectionsMax + 1);
  CHECK(edge.counters.exceptions_timeout.load() == 0);
  ClientSocket one_more(edge.server.pickle_port());
  one_more.Send(Frame("(l(Va\n(I1700000000\nI1\ntta."));
  edge.Await(edge.counters.points_added, GraphiteServer::kConnectionsMax + 2);
  CHECK(open[1].ReadAll().empty());
  open[0].Send("a 1 1700000000\n");
  open[2].Send("a 1 1700000000\n");
  edge.Await(edge.counters.points_added, GraphiteServer::kConnectionsMax + 4);
  CHECK(edge.counters.exceptions_timeout.load() == 1);
  CHECK(edge.counters.connections_rejected.load() == 0);
  CHECK(edge.Warnings() ==
        std::vector<std::string>{"graphite: a silent connection was closed in favour of a new one, "
                                 "because there are 1024"});
}

TEST_CASE("unfinished frames share a memory budget, and a connection that exceeds it is closed") {
  constexpr size_t kBudget = size_t{8} << 20, kClients = 20;
  RunningGraphite edge(0, {}, {}, 4 * kBudget);
  constexpr size_t kFits = kBudget / GraphiteServer::kFrameBytesMax;
  const std::string point = "(l(Va\n(I1700000000\nI1\ntta";
  const std::string frame =
      Frame(std::string(GraphiteServer::kFrameBytesMax - 1 - point.size(), '\x80') + point + ".");
  {
    std::deque<ClientSocket> open;
    for (size_t i = 0; i < kClients; ++i)
      open.emplace_back(edge.server.pickle_port()).Send(frame.substr(0, frame.size() - 100));
    edge.AwaitTrue([&] { return edge.counters.connections_rejected.load() >= kClients - kFits; });
    CHECK(edge.counters.connections_rejected.load() >= kClients - kFits);
    CHECK(edge.Warnings()[0] ==
          "graphite: a connection was closed because unfinished frames take too much memory");
    ClientSocket small(edge.server.pickle_port());
    small.Send(Frame(point + "."));
    edge.Await(edge.counters.points_added, 1);
  }
  // Each connection either was closed or ended within its frame.
  const auto& rejected = edge.counters.connections_rejected;
  edge.AwaitTrue([&] { return rejected + edge.counters.put_illegal_arguments == kClients; });
  const uint64_t rejected_before = rejected;
  ClientSocket large(edge.server.pickle_port());
  large.Send(frame);
  edge.Await(edge.counters.points_added, 2);
  CHECK(rejected == rejected_before);
}

TEST_CASE(
    "a client that sends a frame too slowly is disconnected; idle connections and lines stay "
    "open") {
  RunningGraphite edge;
  ClientSocket slow(edge.server.pickle_port()), idle(edge.server.pickle_port());
  ClientSocket lines(edge.server.port());
  const std::string frame = Frame("(l(Va\n(I1700000000\nI1\ntta.");
  slow.Send(frame + frame.substr(0, 10));
  idle.Send(frame);
  lines.Send("a 1 17");
  edge.Await(edge.counters.points_added, 2);
  CHECK(AgeUntil(edge, 10'000, [&] { return edge.counters.exceptions_timeout.load() == 1; }));
  CHECK(slow.ReadAll().empty());
  idle.Send(frame);
  lines.Send("00000000\n");
  edge.Await(edge.counters.points_added, 4);
  CHECK(edge.counters.exceptions_timeout.load() == 1);
}

TEST_CASE("without file descriptors both ports pause between attempts and continue afterwards") {
  RunningGraphite edge;
  const uint16_t ports[] = {edge.server.port(), edge.server.pickle_port()};
  int clients[2];
  for (int& client : clients) REQUIRE((client = ::socket(AF_INET, SOCK_STREAM, 0)) >= 0);
  {
    const int free = ::dup(clients[0]);
    ::close(free);
    const DescriptorLimit none(static_cast<rlim_t>(free));
    for (int i = 0; i < 2; ++i) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(ports[i]);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      REQUIRE(::connect(clients[i], reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    }
    while (edge.Warnings().empty()) std::this_thread::yield();
    // Busy waiting would make thousands of attempts by then; with pauses there are only a few.
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    edge.clock.AdvanceMs(10'000);
    while (edge.Warnings().size() < 2) std::this_thread::yield();
  }
  const std::string last = edge.Warnings()[1];
  CHECK(edge.Warnings()[0] == "graphite: no connection could be accepted: Too many open files");
  const size_t more = last.find("(and ");
  CHECK((more == std::string::npos || std::stoi(last.substr(more + 5)) < 1000));
  const std::string line = "a 1 1700000000\n", frame = Frame("(l(Vb\n(I1700000000\nI1\ntta.");
  CHECK(::send(clients[0], line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()));
  CHECK(::send(clients[1], frame.data(), frame.size(), 0) == static_cast<ssize_t>(frame.size()));
  edge.Await(edge.counters.points_added, 2);
  for (const int client : clients) ::close(client);
}

TEST_CASE("a stop ends connections and the waiting for a busy store") {
  RunningGraphite edge;
  ClientSocket idle(edge.server.port());
  edge.points.RefuseAppends(1'000'000'000);
  ClientSocket client(edge.server.port());
  client.Send("a 1 1700000000\n");
  while (edge.counters.put_writes_blocked.load() == 0) std::this_thread::yield();
  edge.server.Stop();
  CHECK(idle.ReadAll().empty());
  CHECK(edge.Cells().empty());
}

TEST_CASE("a stop ends the storing of a batch between two of its points") {
  for (const bool pickled : {false, true}) {
    RunningGraphite edge;
    constexpr int kSeries = 5'000;
    std::atomic<int> registered{0};
    edge.points.before_register = [&registered] {
      ++registered;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return Status();
    };
    ClientSocket client(pickled ? edge.server.pickle_port() : edge.server.port());
    client.Send(PointsOfSeries(kSeries, pickled));
    while (registered.load() == 0) std::this_thread::yield();
    edge.server.Stop();
    CHECK(registered.load() < kSeries);
  }
}

// Returns whether the server stopped before its time for running requests was over. Otherwise it
// may have dropped points that it had read.
bool StopsInTime(RunningGraphite& edge) {
  const auto began = std::chrono::steady_clock::now();
  edge.server.Stop();
  return std::chrono::steady_clock::now() - began <
         std::chrono::milliseconds(Server::kRequestGraceMs);
}

TEST_CASE("a stop stores the points that were read completely") {
  for (const bool pickled : {false, true}) {
    bool in_time = false;
    for (int tries = 0; tries < 50 && !in_time; ++tries) {
      RunningGraphite edge;
      constexpr int kSeries = 40;
      std::atomic<bool> begun{false};
      edge.points.before_register = [&begun] {
        // The stop begins while the first point is being stored.
        if (!begun.exchange(true)) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return Status();
      };
      ClientSocket client(pickled ? edge.server.pickle_port() : edge.server.port());
      client.Send(PointsOfSeries(kSeries, pickled));
      while (!begun) std::this_thread::yield();
      in_time = StopsInTime(edge);
      if (!in_time) continue;
      CHECK(edge.Cells().size() == kSeries);
      CHECK(edge.counters.points_added.load() == kSeries);
    }
    CHECK(in_time);
  }
}

TEST_CASE("a stop waits a while for a busy store") {
  bool in_time = false;
  for (int tries = 0; tries < 50 && !in_time; ++tries) {
    RunningGraphite edge;
    edge.points.RefuseAppends(2);
    ClientSocket client(edge.server.port());
    client.Send("a 1 1700000000\n");
    while (edge.counters.put_writes_blocked.load() == 0) std::this_thread::yield();
    in_time = StopsInTime(edge);
    if (in_time) CHECK(edge.Cells().size() == 1);
  }
  CHECK(in_time);
}

TEST_CASE("a path without memory for its name is dropped at once, and known paths continue") {
  RunningGraphite edge;
  ClientSocket client(edge.server.port());
  client.Send("known 1 1700000000\n");
  edge.Await(edge.counters.points_added, 1);
  edge.points.RefuseNewSeries(Status::Exhausted("no memory for series"));
  client.Send("new 1 1700000000\nknown 2 1700000001\n");
  edge.Await(edge.counters.points_added, 2);
  CHECK(edge.counters.put_writes_blocked.load() == 1);
}

}  // namespace hg::http
