// Write limits of one client, over sockets.

#include <doctest/doctest.h>

#include <thread>

#include "http/access/access.h"
#include "http/access/client_limits.h"
#include "tests/http/running_server.h"

namespace hg::http {
namespace {

struct LimitedServer : RunningServer {
  explicit LimitedServer(ClientLimitOptions limits) : client_limits(limits, clock) {
    services.client_limits = &client_limits;
  }
  ~LimitedServer() { server.Stop(); }

  ClientLimits client_limits;
};

TEST_CASE("a client that exceeds its points per second gets 429 until the debt is paid") {
  LimitedServer edge({.points_per_s = 100, .new_series_per_hour = 0});
  ClientSocket client(edge.server.port());
  const auto put = [&client](int64_t second) {
    std::string body = "[";
    for (int i = 0; i < 150; ++i)
      body += (i > 0 ? "," : "") + PointAt(1'700'000'000 + 1000 * second + i);
    client.Send(Post("/api/put", body + "]"));
    return client.ReadResponse();
  };
  CHECK(put(0).status() == 204);  // the slow path
  CHECK(put(1).status() == 429);  // the fast path, as for all later requests
  CHECK(edge.Cells().size() == 150);
  const auto refused = put(1);
  CHECK(refused.head.find("Retry-After: 1\r\n") != std::string::npos);
  CHECK(refused.body.find("address 127.0.0.1 may write 100 points a second") != std::string::npos);
  client.Send(kGetVersion);
  CHECK(client.ReadResponse().status() == 200);
  edge.clock.AdvanceMs(500);
  CHECK(put(1).status() == 204);
  CHECK(put(2).status() == 429);
  CHECK(edge.Cells().size() == 300);
  CHECK(edge.client_limits.refused_points() == 450);
}

TEST_CASE("telnet lines of a client over its rate wait, and none is lost") {
  LimitedServer edge({.points_per_s = 10, .new_series_per_hour = 0});
  ClientSocket client(edge.server.port());
  std::string lines;
  for (int i = 0; i < 30; ++i)
    lines += "put m " + std::to_string(1'700'000'000 + i) + " 1 host=a\n";
  client.Send(lines + "nosuch\n");
  CHECK(client.Read(8) == "unknown ");
  client.Send("put m 1700001000 1 host=a\nexit\n");
  CHECK(AgeUntil(edge, 500, [&] { return edge.Cells().size() == 31; }));
  CHECK(client.ReadAll().find("put:") == std::string::npos);
  CHECK(edge.client_limits.refused_points() > 0);
}

TEST_CASE("InfluxDB lines over the rate get 429 in InfluxDB's form, on both paths") {
  LimitedServer edge({.points_per_s = 2, .new_series_per_hour = 0});
  ClientSocket client(edge.server.port());
  const auto write = [&client](std::string_view lines) {
    client.Send(Post("/api/v2/write?precision=s", lines));
    return client.ReadResponse();
  };
  CHECK(write("m,host=a v=1,w=2,x=3,y=4 1700000000\n").status() == 204);
  for (const char* lines : {"m,host=a v=1 1700000001\n", "m,host=b v=1 1700000001\n"}) {
    const auto refused = write(lines);
    CHECK(refused.status() == 429);
    CHECK(refused.head.find("Retry-After: 1\r\n") != std::string::npos);
    CHECK(refused.body.find(R"("code":"too many requests")") != std::string::npos);
  }
  CHECK(edge.Cells().size() == 4);
  edge.clock.AdvanceMs(2000);
  CHECK(write("m,host=a v=1 1700000001\n").status() == 204);
}

TEST_CASE("limits apply to users, whatever address they connect from") {
  LimitedServer edge({.points_per_s = 1, .new_series_per_hour = 0});
  Access access;
  REQUIRE(
      access
          .Load("a:write:token$" + TokenDigest("1") + "\nb:write:token$" + TokenDigest("2") + "\n")
          .ok());
  edge.services.access = &access;
  const auto put = [&edge](const char* token) {
    ClientSocket client(edge.server.port());
    client.Send(
        Post("/api/put", Points(5), "Authorization: Bearer " + std::string(token) + "\r\n"));
    return client.ReadResponse();
  };
  CHECK(put("1").status() == 204);
  CHECK(put("2").status() == 204);
  CHECK(put("1").status() == 429);
  CHECK(put("1").body.find("user a may write 1 points a second") != std::string::npos);
  edge.server.Stop();
}

TEST_CASE("with authentication an unauthenticated client has no limits of its own") {
  LimitedServer edge({.points_per_s = 1, .new_series_per_hour = 0});
  Access access;
  REQUIRE(access.Load("a:write:token$" + TokenDigest("1") + "\n").ok());
  edge.services.access = &access;
  for (const char* fields : {"", "Authorization: Bearer 2\r\n"}) {
    ClientSocket client(edge.server.port());
    client.Send(Post("/api/put", Points(5), fields));
    CHECK(client.ReadResponse().status() == 401);
  }
  CHECK(edge.client_limits.clients() == 0);
  ClientSocket user(edge.server.port());
  user.Send(Post("/api/put", Points(5), "Authorization: Bearer 1\r\n"));
  CHECK(user.ReadResponse().status() == 204);
  CHECK(edge.client_limits.clients() == 1);
  edge.server.Stop();
}

TEST_CASE(
    "new series beyond the hourly limit are refused, and points of existing ones are stored") {
  LimitedServer edge({.points_per_s = 0, .new_series_per_hour = 3});
  ClientSocket client(edge.server.port());
  const auto put = [&client](const std::string& body) {
    client.Send(Post("/api/put?details", body));
    return client.ReadResponse();
  };
  CHECK(put("[" + PointAt(1700000000, "a") + "," + PointAt(1700000000, "b") + "]").status() == 200);
  CHECK(put(PointAt(1700000000, "c")).status() == 200);
  const auto refused = put("[" + PointAt(1700000001, "a") + "," + PointAt(1700000001, "d") + "]");
  CHECK(refused.status() == 400);
  CHECK(refused.body.find("address 127.0.0.1 may make 3 new series an hour") != std::string::npos);
  CHECK(edge.Cells().size() == 4);
  for (const std::string& line : edge.Ids()) CHECK(line.find(ToHex("d")) != 0);
  ClientSocket lines(edge.server.port());
  lines.Send("put m 1700000002 1 host=e\n");
  CHECK(lines.Read(22) == "put: illegal argument:");
  edge.clock.AdvanceMs(3'600'000);
  CHECK(put(PointAt(1700000001, "d")).status() == 200);
}

TEST_CASE("two concurrent requests cannot both create the last series that a client may create") {
  LimitedServer edge({.points_per_s = 0, .new_series_per_hour = 1});
  std::atomic<int> made{0};
  int other = 0;
  edge.points.before_register = [&] {
    if (made.fetch_add(1) > 0) return Status();
    ClientSocket beside(edge.server.port());
    beside.Send(Post("/api/put", PointAt(1700000000, "beside")));
    other = beside.ReadResponse().status();
    return Status();
  };
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", PointAt(1700000000, "first")));
  CHECK(client.ReadResponse().status() == 204);
  CHECK(other == 400);
  CHECK(made.load() == 1);
}

TEST_CASE("a series that cannot be created does not count towards the hourly limit") {
  LimitedServer edge({.points_per_s = 0, .new_series_per_hour = 1});
  edge.points.before_register = [] { return Status::Unavailable("not now"); };
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", PointAt(1700000000, "a")));
  CHECK(client.ReadResponse().status() >= 500);
  edge.points.before_register = nullptr;
  client.Send(Post("/api/put", PointAt(1700000000, "a")));
  CHECK(client.ReadResponse().status() == 204);
}

}  // namespace
}  // namespace hg::http
