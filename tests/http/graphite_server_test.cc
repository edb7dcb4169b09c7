#include "http/graphite_server.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "storage/base/bytes.h"
#include "tests/http/client_socket.h"
#include "tests/http/edge_fixture.h"

namespace hg::http {
namespace {

struct RunningGraphite : EdgeFixture {
  RunningGraphite() : server(Prepared(), services) { REQUIRE(server.Start().ok()); }

  const Options& Prepared() {
    options.graphite_port = options.graphite_pickle_port = 0;
    services.warn = [this](const std::string& text) {
      const std::lock_guard lock(mutex);
      warnings.push_back(text);
    };
    return options;
  }
  /// Waits, for as long as a test may take.
  void Await(const std::atomic<uint64_t>& counter, uint64_t value) {
    for (int i = 0; i < 60'000 && counter.load() < value; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE(counter.load() == value);
  }
  std::vector<std::string> Warnings() {
    const std::lock_guard lock(mutex);
    return warnings;
  }

  std::mutex mutex;
  std::vector<std::string> warnings;
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

}  // namespace

TEST_CASE(
    "lines are stored; a path is a metric, its tags are tags, else there is the default one") {
  RunningGraphite edge;
  ClientSocket client(edge.server.port());
  client.Send("web.load 1.5 1700000000\r\nweb.load;host=a 2 17000");
  client.Send("00001\n\nodd:path 3 -1\n");
  edge.Await(edge.counters.points_added, 3);
  CHECK(Sorted(*edge.names.Suggest(UidKind::kMetric, "", 10)) ==
        std::vector<std::string>{"odd_x003A_path", "web.load"});
  CHECK(Sorted(*edge.names.Suggest(UidKind::kTagv, "", 10)) ==
        std::vector<std::string>{"a", "unknown"});
  CHECK(edge.Cells().size() == 3);
  CHECK(edge.counters.rpc_graphite.load() == 3);
  CHECK(edge.Warnings().empty());
}

TEST_CASE("frames of pickled points are stored, whatever pieces they come in") {
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

TEST_CASE("a bad line costs itself alone, and the log is told") {
  RunningGraphite edge;
  ClientSocket client(edge.server.port());
  client.Send("a 1 1700000000\na x 1700000001\na 3 1700000002\n");
  edge.Await(edge.counters.points_added, 2);
  edge.Await(edge.counters.put_illegal_arguments, 1);
  CHECK(edge.Warnings() ==
        std::vector<std::string>{"graphite: the value \"x\" is no finite number"});
}

TEST_CASE("a pickle that is none costs its frame, a frame too long its connection") {
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

TEST_CASE("a frame that names one long path many times is stored in pieces") {
  RunningGraphite edge;
  edge.points.RefuseAppends(1);
  ClientSocket client(edge.server.pickle_port());
  client.Send(Frame("((V" + std::string(1000, 'a') + "\n(I1700000000\nI1\ntt" +
                    std::string(9'999, '2') + "t."));
  edge.Await(edge.counters.points_added, 10'000);
  CHECK(edge.counters.put_writes_blocked.load() < 5'000);  // of the first piece alone
}

TEST_CASE("a line that its connection does not end is not stored") {
  RunningGraphite edge;
  ClientSocket client(edge.server.port());
  client.Send("a 1 1700000000\na 2 17000");
  client.HalfClose();
  CHECK(client.ReadAll().empty());
  CHECK(edge.Cells().size() == 1);
  CHECK(edge.counters.put_illegal_arguments.load() == 1);
}

TEST_CASE("while the store is busy points wait, and are stored once") {
  RunningGraphite edge;
  edge.points.RefuseAppends(3);
  ClientSocket client(edge.server.port());
  client.Send("a 1 1700000000\n");
  edge.Await(edge.counters.points_added, 1);
  CHECK(edge.Cells().size() == 1);
  CHECK(edge.counters.put_writes_blocked.load() == 3);
}

TEST_CASE("a point that the store can never take costs itself alone") {
  RunningGraphite edge;
  // An id of one byte.
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

TEST_CASE("a stop ends connections and the wait for a busy store") {
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

}  // namespace hg::http
