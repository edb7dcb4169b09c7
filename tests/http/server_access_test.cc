// Authentication and roles over sockets: HTTP checks each request, telnet each connection.

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "http/access/access.h"
#include "http/access/secret.h"
#include "tests/http/running_server.h"

namespace hg::http {
namespace {

// "NAME:secret of NAME" in base64.
constexpr std::string_view kReader = "Authorization: Basic cmVhZGVyOnNlY3JldCBvZiByZWFkZXI=\r\n";
constexpr std::string_view kWriter = "Authorization: Basic d3JpdGVyOnNlY3JldCBvZiB3cml0ZXI=\r\n";
constexpr std::string_view kNobody = "Authorization: Basic bm9ib2R5OnNlY3JldA==\r\n";
constexpr std::string_view kToken = "Authorization: Bearer hg_agents\r\n";

std::string Users() {
  static const std::string text = "reader:read:" + *HashPassword("secret of reader") +
                                  "\nwriter:write:" + *HashPassword("secret of writer") +
                                  "\nagents:write:token$" + TokenDigest("hg_agents") +
                                  "\nboss:admin:" + *HashPassword("secret of boss") + "\n";
  return text;
}

struct GuardedServer : RunningServer {
  explicit GuardedServer(const std::function<void(Options&)>& change = {},
                         PasswordCheck matches = PasswordMatches)
      : RunningServer(change), access(std::move(matches)) {
    REQUIRE(access.Load(Users()).ok());
    services.access = &access;
  }
  ~GuardedServer() { server.Stop(); }

  Access access;
};

std::string Get(std::string_view target, std::string_view fields = {}) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) +
         "\r\n";
}

/// Verifies passwords like the daemon, and holds all checks that begin between Shut and Open.
/// Thread-safe.
class Gate {
 public:
  bool Matches(std::string_view password, const std::string& hash) {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++inside_);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !shut_; });
    lock.unlock();
    const bool good = PasswordMatches(password, hash);
    lock.lock();
    --inside_;
    return good;
  }
  void Shut() {
    std::lock_guard lock(mutex_);
    shut_ = true;
  }
  void Open() {
    std::lock_guard lock(mutex_);
    shut_ = false;
    changed_.notify_all();
  }
  void Await(int inside) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ >= inside; });
  }
  /// The maximum number of concurrent checks.
  [[nodiscard]] int most() {
    std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false;
  int inside_ = 0, most_ = 0;
};

TEST_CASE(
    "without valid credentials a request is refused before its body is read, and a browser asks "
    "for them") {
  GuardedServer edge;
  for (const std::string& request :
       {Get("/api/version"), Get("/api/version", kNobody), Post("/api/put", PointAt(1700000000)),
        Post("/api/put", PointAt(1700000000), "Authorization: Bearer hg_other\r\n"),
        std::string("POST /api/put HTTP/1.1\r\nContent-Length: 60000000\r\n\r\n")}) {
    CAPTURE(request);
    ClientSocket client(edge.server.port());
    client.Send(request);
    const auto response = client.ReadResponse();
    CHECK(response.status() == 401);
    CHECK(response.head.find("WWW-Authenticate: Basic realm=") != std::string::npos);
    CHECK(response.body.starts_with(R"({"error":{"code":401,)"));
    CHECK(client.ReadAll().empty());
  }
  ClientSocket browser(edge.server.port());
  browser.Send(Get("/"));
  const auto page = browser.ReadResponse();
  CHECK(page.status() == 401);
  CHECK(page.head.find("WWW-Authenticate: Basic realm=") != std::string::npos);
  CHECK(edge.Cells().empty());
  CHECK(edge.counters.unauthorized_http.load() == 6);
}

TEST_CASE("users may do what their roles allow, also if several users share one connection") {
  GuardedServer edge;
  ClientSocket client(edge.server.port());
  const auto status = [&](const std::string& request) {
    client.Send(request);
    return client.ReadResponse().status();
  };
  for (int round = 0; round < 2; ++round) {
    CHECK(status(Get("/", kReader)) == 200);
    CHECK(status(Get("/api/version", kWriter)) == 200);
    CHECK(status(Post("/api/put", PointAt(1700000000), kReader)) == 403);
    CHECK(status(Post("/api/put", PointAt(1700000000), kWriter)) == 204);
    CHECK(status(Post("/api/put", PointAt(1700000001), kToken)) == 204);
    CHECK(status(Get("/api/suggest?type=metrics", kToken)) == 403);
    CHECK(status(Get("/api/suggest?type=metrics", kReader)) == 200);
    CHECK(status(Get("/api/dropcaches", kReader)) == 403);
  }
  CHECK(edge.counters.forbidden_http.load() == 6);
  CHECK(edge.Cells().size() == 2);
}

TEST_CASE("a user can query their name and roles, as the web page needs it") {
  GuardedServer edge;
  ClientSocket client(edge.server.port());
  const auto told = [&](std::string_view fields) {
    client.Send(Get("/api/user", fields));
    return client.ReadResponse().body;
  };
  CHECK(told(kReader) == R"({"user":"reader","roles":["read"],"mode":"rw"})");
  CHECK(told(kWriter) == R"({"user":"writer","roles":["write"],"mode":"rw"})");
}

TEST_CASE("points from a page of another site are refused on the fast path too") {
  GuardedServer edge;
  ClientSocket client(edge.server.port());
  const auto status = [&](const std::string& target, const std::string& body,
                          std::string_view fields) {
    client.Send(Post(target, body, std::string(kWriter) + std::string(fields)));
    return client.ReadResponse().status();
  };
  const std::string lines = "m,host=a v=1 1700000000\n", by_influx = "/write?precision=s";
  for (int round = 0; round < 2; ++round) {  // round 0: series by name; round 1: fast path
    CHECK(status("/api/put", PointAt(1700000000), "") == 204);
    CHECK(status(by_influx, lines, "") == 204);
  }
  const int appends = edge.points.appends.load();
  for (const char* field : {"Origin: http://evil\r\n", "Sec-Fetch-Site: cross-site\r\n",
                            "sec-fetch-site: same-site\r\n"}) {
    CAPTURE(field);
    CHECK(status("/api/put", PointAt(1700000001), field) == 403);
    CHECK(status(by_influx, lines, field) == 403);
  }
  CHECK(edge.points.appends.load() == appends);
  CHECK(status("/api/put", PointAt(1700000001), "Sec-Fetch-Site: same-origin\r\n") == 204);
}

TEST_CASE("a valid password is verified once, whatever connection it arrives on") {
  GuardedServer edge;
  for (int i = 0; i < 3; ++i) {
    ClientSocket client(edge.server.port());
    client.Send(Get("/api/version", kReader) + Get("/api/version", kReader));
    CHECK(client.ReadResponse().status() == 200);
    CHECK(client.ReadResponse().status() == 200);
  }
  CHECK(edge.access.Known(ReadAuthorization("Basic cmVhZGVyOnNlY3JldCBvZiByZWFkZXI=")) != nullptr);
}

TEST_CASE("many wrong passwords do not delay tokens and known passwords") {
  Gate gate;
  GuardedServer edge({}, [&gate](std::string_view password, const std::string& hash) {
    return gate.Matches(password, hash);
  });
  // Opens the gate before the server stops, because Server::Stop waits for running password checks.
  const std::unique_ptr<Gate, void (*)(Gate*)> open(&gate, [](Gate* shut) { shut->Open(); });
  ClientSocket known(edge.server.port());
  known.Send(Get("/api/version", kReader));
  CHECK(known.ReadResponse().status() == 200);
  gate.Shut();
  std::vector<std::unique_ptr<ClientSocket>> flood;
  for (int i = 0; i < 100; ++i) {
    flood.push_back(std::make_unique<ClientSocket>(edge.server.port()));
    flood.back()->Send(Get("/api/version", kNobody));
  }
  gate.Await(2);
  // None of the waiting wrong passwords is verified yet.
  known.Send(Get("/api/version", kReader));
  CHECK(known.ReadResponse().status() == 200);
  known.Send(Post("/api/put", PointAt(1700000000), kToken));
  CHECK(known.ReadResponse().status() == 204);
  REQUIRE(edge.access.Load(Users()).ok());
  ClientSocket later(edge.server.port());
  later.Send(Get("/api/version", kReader));
  CHECK(later.ReadResponse().status() == 200);
  gate.Open();
  int refused = 0, put_off = 0;
  for (const auto& client : flood) {
    const auto response = client->ReadResponse();
    refused += response.status() == 401;
    put_off += response.status() == 503 && response.head.find("Retry-After: ") != std::string::npos;
  }
  CHECK(refused + put_off == 100);
  CHECK(refused > 0);
  CHECK(gate.most() == 2);
}

TEST_CASE("after a reload requests are checked against the new file") {
  GuardedServer edge;
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", PointAt(1700000000), kToken));
  CHECK(client.ReadResponse().status() == 204);
  REQUIRE(edge.access.Load("agents:read:token$" + TokenDigest("hg_agents") + "\n").ok());
  client.Send(Post("/api/put", PointAt(1700000001), kToken));
  CHECK(client.ReadResponse().status() == 403);
  REQUIRE(edge.access.Load("reader:read:\n").ok());
  client.Send(Post("/api/put", PointAt(1700000001), kToken));
  CHECK(client.ReadResponse().status() == 401);
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE("CORS preflight requests need no credentials, but the allowed requests do") {
  GuardedServer edge([](Options& options) { options.cors_domains = {"http://good"}; });
  ClientSocket client(edge.server.port());
  client.Send("OPTIONS /api/put HTTP/1.1\r\nOrigin: http://good\r\n\r\n");
  CHECK(client.ReadResponse().status() == 200);
  client.Send(Get("/api/version", "Origin: http://good\r\n"));
  const auto refused = client.ReadResponse();
  CHECK(refused.status() == 401);
  CHECK(refused.head.find("Access-Control-Allow-Origin: http://good") != std::string::npos);
}

TEST_CASE("telnet lines are run after auth has identified the writer") {
  GuardedServer edge;
  ClientSocket client(edge.server.port());
  const auto say = [&](std::string_view lines, std::string_view reply) {
    client.Send(lines);
    CHECK(client.Read(reply.size()) == reply);
  };
  say("version\n", "AUTH_FAIL\r\n");
  say("put m 1700000000 1 host=a\nput m 1700000001 1 host=a\n", "AUTH_FAIL\r\nAUTH_FAIL\r\n");
  say("auth basic writer wrong\n", "AUTH_FAIL\r\n");
  say("auth basic writer secret of writer\r\n", "AUTH_SUCCESS\r\n");
  say("put m 1700000002 1 host=a\nnosuch\n", "unknown command: nosuch.  Try `help'.\n");
  CHECK(edge.Cells().size() == 1);
  say("put m 1700000002 1 host=a\nstats\n", "stats: forbidden: the role read is needed\n");
  say("diediedie\n", "diediedie: forbidden: the role admin is needed\n");
  CHECK(edge.counters.unauthorized_telnet.load() == 4);
  CHECK(edge.counters.forbidden_telnet.load() == 2);
}

TEST_CASE("an auth line changes the user for the lines after it") {
  GuardedServer edge;
  ClientSocket client(edge.server.port());
  client.Send(
      "auth bearer hg_agents\nput m 1700000000 1 host=a\nauth basic reader secret of reader\n"
      "put m 1700000001 1 host=a\nput m 1700000002 1 host=a\nexit\n");
  CHECK(client.ReadAll() ==
        "AUTH_SUCCESS\r\nAUTH_SUCCESS\r\nput: forbidden: the role write is needed\n"
        "put: forbidden: the role write is needed\n");
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE(
    "after a reload of the users a telnet connection stays authenticated if its user's secret did "
    "not change") {
  GuardedServer edge;
  ClientSocket client(edge.server.port());
  client.Send("auth bearer hg_agents\nput m 1700000000 1 host=a\nhelp\n");
  CHECK(client.Read(14) == "AUTH_SUCCESS\r\n");
  CHECK(client.Read(9) == "available");
  REQUIRE(edge.access.Load(Users()).ok());
  client.Send("put m 1700000001 1 host=a\nexit\n");
  client.ReadAll();
  CHECK(edge.Cells().size() == 2);
  ClientSocket other(edge.server.port());
  other.Send("auth bearer hg_agents\n");
  CHECK(other.Read(14) == "AUTH_SUCCESS\r\n");
  REQUIRE(edge.access.Load("agents:write:token$" + TokenDigest("hg_new") + "\n").ok());
  other.Send("put m 1700000002 1 host=a\n");
  CHECK(other.Read(11) == "AUTH_FAIL\r\n");
  CHECK(edge.Cells().size() == 2);
}

TEST_CASE("InfluxDB clients authenticate in their own ways, on InfluxDB's paths only") {
  GuardedServer edge;
  ClientSocket client(edge.server.port());
  int64_t second = 1700000000;
  const auto write = [&](std::string_view target, std::string_view fields = {}) {
    client.Send(Post(target, "m,host=a v=1 " + std::to_string(++second) + "\n", fields));
    return client.ReadResponse().status();
  };
  const std::string by_target = "/write?precision=s&u=writer&p=secret+of+writer";
  for (int round = 0; round < 2; ++round) {  // round 0: series by name; round 1: fast path
    CHECK(write(by_target) == 204);
    CHECK(write("/write?precision=s", "Authorization: Token writer:secret of writer\r\n") == 204);
    CHECK(write("/api/v2/write?precision=s", "Authorization: Token hg_agents\r\n") == 204);
    CHECK(write("/write?precision=s&u=reader&p=secret+of+reader") == 403);
  }
  CHECK(edge.Cells().size() == 6);
  CHECK(write("/write?precision=s", kReader) == 403);
  for (const std::string& request :
       {Post("/write?precision=s&u=writer&p=wrong", "m v=1 1700000000\n"),
        Post("/write?precision=s&u=writer", "m v=1 1700000000\n"),
        Post("/api/put?u=writer&p=secret+of+writer", PointAt(1700000000)),
        Post("/api/v2/write?precision=s&u=writer&p=secret+of+writer", "m v=1 1700000000\n")}) {
    CAPTURE(request);
    ClientSocket stranger(edge.server.port());
    stranger.Send(request);
    CHECK(stranger.ReadResponse().status() == 401);
  }
  ClientSocket told(edge.server.port());
  told.Send(Post("/api/v2/write", "m v=1\n"));
  CHECK(told.ReadResponse().body.find(R"("code":"unauthorized")") != std::string::npos);
  CHECK(edge.Cells().size() == 6);
}

TEST_CASE("health checks need no authentication, and /metrics needs the role read") {
  GuardedServer edge;
  ClientSocket client(edge.server.port());
  for (const char* target : {"/healthz", "/readyz"}) {
    client.Send(Get(target));
    CHECK(client.ReadResponse().status() == 200);
  }
  client.Send(Get("/metrics", kWriter));
  CHECK(client.ReadResponse().status() == 403);
  client.Send(Get("/metrics", kReader));
  CHECK(client.ReadResponse().status() == 200);
  client.Send(Get("/metrics"));
  CHECK(client.ReadResponse().status() == 401);
}

TEST_CASE("wrong credentials are reported wherever they are, and requests without any are not") {
  GuardedServer edge;
  std::mutex mutex;
  std::vector<std::string> reported;
  edge.access.ListenForRefusals([&](const AccessRefusal& refusal) {
    std::lock_guard lock(mutex);
    reported.push_back(std::string(refusal.path) + " " + std::to_string(refusal.status));
  });
  for (const std::string& request :
       {Post("/write?u=writer&p=wrong", "m v=1 1700000000\n"), Post("/write", "m v=1 1700000000\n"),
        Get("/api/query?start=1h-ago&m=sum:m", kNobody), Get("/api/query?start=1h-ago&m=sum:m")}) {
    CAPTURE(request);
    ClientSocket client(edge.server.port());
    client.Send(request);
    CHECK(client.ReadResponse().status() == 401);
  }
  std::lock_guard lock(mutex);
  CHECK(reported == std::vector<std::string>{"/write 401", "/api/query 401"});
}

TEST_CASE("without authentication no credentials are needed, and auth is an unknown command") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  client.Send("auth basic a b\n");
  CHECK(client.Read(8) == "unknown ");
  ClientSocket web(edge.server.port());
  web.Send(Get("/api/version", kNobody));
  CHECK(web.ReadResponse().status() == 200);
}

}  // namespace
}  // namespace hg::http
