#include "http/server.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "http/wire/body_coding.h"
#include "query/running.h"
#include "storage/model/utf8.h"
#include "tests/http/client_socket.h"
#include "tests/http/edge_fixture.h"

namespace hg::http {
namespace {

struct Running : EdgeFixture {
  explicit Running(const std::function<void(Options&)>& change = {})
      : server(Prepared(change), services) {
    REQUIRE(server.Start().ok());
  }
  ~Running() { server.Stop(); }

  const Options& Prepared(const std::function<void(Options&)>& change) {
    options.port = 0;
    options.loop_threads = 2;
    options.worker_threads = 2;
    if (change) change(options);
    return options;
  }

  Server server;
};

std::string PointAt(int64_t time, std::string_view host = "a") {
  return R"({"metric":"m","timestamp":)" + std::to_string(time) + R"(,"value":1,"tags":{"host":")" +
         std::string(host) + "\"}}";
}

std::string Post(std::string_view target, std::string_view body, std::string_view fields = {}) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(fields) + "\r\n" + std::string(body);
}

constexpr std::string_view kGetVersion = "GET /api/version HTTP/1.1\r\n\r\n";

/// Array of `count` points.
std::string Points(int count) {
  std::string body = "[";
  for (int i = 0; i < count; ++i) body += (i > 0 ? "," : "") + PointAt(1700000000 + i);
  return body + "]";
}

/// `count` points that are refused one by one: with ?details a reply many times the size of what is
/// kept for a client that does not read.
std::string RefusedPoints(int count) {
  std::string body = "[";
  for (int i = 0; i < count; ++i) {
    body += (i > 0 ? "," : "") +
            std::string(R"({"metric":"m","timestamp":1700000000,"value":"x","tags":{"host":"a"}})");
  }
  return body + "]";
}

/// Moves the server's clock on by `step_ms` again and again until `done`; false: never.
bool AgeUntil(EdgeFixture& edge, int64_t step_ms, const std::function<bool()>& done) {
  for (int i = 0; i < 150; ++i) {
    if (done()) return true;
    edge.clock.AdvanceMs(step_ms);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return done();
}

}  // namespace

TEST_CASE("a put is answered with 204, the first time and when its series is known") {
  Running edge;
  ClientSocket client(edge.server.port());
  for (int i = 0; i < 3; ++i) {
    client.Send(Post("/api/put", PointAt(1700000000 + i)));
    const auto response = client.ReadResponse();
    CHECK(response.head ==
          "HTTP/1.1 204 No Content\r\nContent-Type: application/json; "
          "charset=UTF-8\r\nContent-Length: 0\r\n\r\n");
  }
  CHECK(edge.Cells().size() == 3);
}

TEST_CASE("flags of a put are answered alike on both ways") {
  Running edge;
  ClientSocket client(edge.server.port());
  for (int i = 0; i < 2; ++i) {
    client.Send(Post("/api/put?summary", Points(3)));
    CHECK(client.ReadResponse().body == R"({"success":3,"failed":0})");
    client.Send(Post("/api/put?details&sync", Points(2)));
    CHECK(client.ReadResponse().body == R"({"success":2,"failed":0,"errors":[]})");
  }
}

TEST_CASE("requests that come together are answered in their order") {
  Running edge;
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

TEST_CASE("a request may come byte by byte") {
  Running edge;
  ClientSocket client(edge.server.port());
  for (const char c : Post("/api/put", PointAt(1700000000))) client.Send({&c, 1});
  CHECK(client.ReadResponse().status() == 204);
}

TEST_CASE("bodies in chunks and compressed bodies are put") {
  Running edge;
  ClientSocket client(edge.server.port());
  for (int i = 0; i < 2; ++i) {
    client.Send("POST /api/put?summary HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string body = Points(100);
    for (size_t at = 0; at < body.size(); at += 1000) {
      const std::string piece = body.substr(at, 1000);
      char size[16];
      std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
      client.Send(size + piece + "\r\n");
    }
    client.Send("0\r\n\r\n");
    CHECK(client.ReadResponse().body == R"({"success":100,"failed":0})");
    for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kDeflate}) {
      BodyPacker packer(coding);
      std::string packed;
      packer.Pack(Points(500), true, &packed);
      client.Send(Post("/api/put?summary", packed,
                       coding == ContentCoding::kGzip ? "Content-Encoding: gzip\r\n"
                                                      : "Content-Encoding: deflate\r\n"));
      CHECK(client.ReadResponse().body == R"({"success":500,"failed":0})");
    }
  }
}

TEST_CASE("a body is read in the charset that its type names") {
  Running edge;
  ClientSocket client(edge.server.port());
  constexpr std::string_view kLatin = "Content-Type: application/json; charset=ISO-8859-1\r\n";
  for (int i = 0; i < 2; ++i) {
    client.Send(Post("/api/put?details", PointAt(1700000000, "caf\xE9"), kLatin));
    CHECK(client.ReadResponse().body == R"({"success":1,"failed":0,"errors":[]})");
  }
  BodyPacker packer(ContentCoding::kGzip);
  std::string packed;
  packer.Pack(PointAt(1700000000, "caf\xE9"), true, &packed);
  client.Send(Post("/api/put?details", packed, std::string(kLatin) + "Content-Encoding: gzip\r\n"));
  CHECK(client.ReadResponse().body == R"({"success":1,"failed":0,"errors":[]})");
  client.Send("GET /api/suggest?type=tagv HTTP/1.1\r\n\r\n");
  CHECK(client.ReadResponse().body == "[\"caf\xC3\xA9\"]");
  client.Send(Post("/api/put", PointAt(1700000000), "Content-Type: x; charset=no-such\r\n"));
  CHECK(client.ReadResponse().status() == 400);
  client.Send(Post("/api/put", PointAt(1700000000), "Content-Type: x; charset=\"UTF-8\"\r\n"));
  CHECK(client.ReadResponse().status() == 204);
}

TEST_CASE("a damaged compressed body closes the connection without a word") {
  Running edge;
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", "no gzip", "Content-Encoding: gzip\r\n"));
  CHECK(client.ReadAll().empty());
}

TEST_CASE("a body above the limit is refused with 413, however it comes") {
  Running edge([](Options& options) { options.body_bytes_max = 10000; });
  const auto reply = [&](const std::string& request) {
    ClientSocket client(edge.server.port());
    client.Send(request);
    const std::string bytes = client.ReadAll();
    return bytes.substr(0, bytes.find("\r\n"));
  };
  const std::string refused = "HTTP/1.1 413 Request Entity Too Large";
  CHECK(reply(Post("/api/put", Points(200))) == refused);
  CHECK(reply("POST /api/put HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2ee0\r\n" +
              std::string(12000, ' ')) == refused);
  BodyPacker packer(ContentCoding::kGzip);
  std::string packed;
  packer.Pack(std::string(20000, ' '), true, &packed);
  CHECK(reply(Post("/api/put", packed, "Content-Encoding: gzip\r\n")) == refused);
  CHECK(edge.Cells().empty());
}

TEST_CASE("where chunked requests are off, a large or announced body gets the page") {
  Running edge([](Options& options) { options.chunked_enabled = false; });
  for (const std::string& request :
       {Post("/api/put", Points(200)), Post("/api/put", Points(1), "Expect: 100-continue\r\n"),
        std::string("POST /api/put HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")}) {
    ClientSocket client(edge.server.port());
    client.Send(request);
    const auto response = client.ReadResponse();
    CHECK(response.status() == 400);
    CHECK(response.body.find("Chunked request not supported.") != std::string::npos);
  }
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", Points(50)));
  CHECK(client.ReadResponse().status() == 204);
}

TEST_CASE("an announced body is asked for") {
  Running edge;
  ClientSocket client(edge.server.port());
  const std::string request = Post("/api/put", Points(10), "Expect: 100-continue\r\n");
  const size_t head = request.find("\r\n\r\n") + 4;
  client.Send(request.substr(0, head));
  const std::string go = "HTTP/1.1 100 Continue\r\n\r\n";
  CHECK(client.Read(go.size()) == go);
  client.Send(request.substr(head));
  CHECK(client.ReadResponse().status() == 204);
}

TEST_CASE("what is no HTTP closes the connection without a word") {
  Running edge;
  for (const std::string& bytes : {std::string("VERSION\n\n"), "GET /" + std::string(5000, 'x'),
                                   "GET / HTTP/1.1\r\nA: " + std::string(9000, 'x')}) {
    ClientSocket client(edge.server.port());
    client.Send(bytes);
    CHECK(client.ReadAll().empty());
  }
  ClientSocket client(edge.server.port());
  client.Send("GET http://x/api/version HTTP/1.1\r\n\r\n");
  CHECK(client.ReadAll() == "HTTP/1.1 400 Bad Request\r\n\r\n");
}

TEST_CASE("without keep-alive there is no length, and the connection ends with the body") {
  Running edge;
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

TEST_CASE("HEAD has the head alone") {
  Running edge;
  ClientSocket client(edge.server.port());
  client.Send("HEAD /api/put HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string bytes = client.ReadAll();
  CHECK(bytes.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"));
  CHECK(bytes.ends_with("\r\n\r\n"));
}

TEST_CASE("a client that sends and half-closes is answered, over HTTP and over telnet") {
  Running edge;
  for (const std::string& request :
       {std::string(kGetVersion), std::string("version\n"), Post("/api/put?summary", Points(5))}) {
    ClientSocket client(edge.server.port());
    client.Send(request);
    client.HalfClose();
    CHECK_FALSE(client.ReadAll().empty());
  }
}

TEST_CASE("a client that writes lines and closes at once has its points stored") {
  Running edge;
  {
    ClientSocket client(edge.server.port());
    client.Send("put m 1700000000 1 host=a\nput m 1700000001 1 host=a\n");
    client.Close();
  }
  while (edge.Cells().size() < 2) std::this_thread::yield();
}

TEST_CASE("telnet lines may come in pieces, with CRLF, and good ones are silent") {
  Running edge;
  ClientSocket client(edge.server.port());
  for (const char* piece : {"put m 17000", "00000 1 host=a\r", "\nput m 1700000001 2 ho",
                            "st=a\nput m x 1 host=a\nexit\n"}) {
    client.Send(piece);
  }
  CHECK(client.ReadAll() == "put: invalid value: Invalid character 'x' in x\n");
  CHECK(edge.Cells().size() == 2);
}

TEST_CASE("many telnet lines of known series go the fast way, with one append for a whole read") {
  Running edge;
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

TEST_CASE("a line that never ends closes the connection") {
  Running edge;
  ClientSocket client(edge.server.port());
  client.Send("put " + std::string(2000, 'x'));
  CHECK(client.ReadAll().empty());
}

TEST_CASE("telnet waits for a busy store, HTTP says 503") {
  Running edge;
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
    "nothing is acknowledged before the log has it, and one commit serves what came together") {
  Running edge([](Options& options) { options.loop_threads = 1; });
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

TEST_CASE("replies are compressed where the client takes it") {
  Running edge;
  ClientSocket client(edge.server.port());
  client.Send("GET /api/version HTTP/1.1\r\nAccept-Encoding: deflate, gzip\r\n\r\n");
  const auto response = client.ReadResponse();
  CHECK(response.head.find("Content-Encoding: gzip\r\n") != std::string::npos);
  std::string body;
  REQUIRE(UnpackBody(ContentCoding::kGzip, response.body, 1 << 20, 0, &body).ok());
  CHECK(body.find("\"version\"") != std::string::npos);
}

TEST_CASE(
    "where browsers may call, agents' puts still are answered by the loop, theirs by a thread") {
  Running edge([](Options& options) { options.cors_domains = {"http://a"}; });
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", Points(3)));
  CHECK(client.ReadResponse().status() == 204);
  const uint64_t before = edge.counters.all_requests.Count();
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

TEST_CASE("requests for plug-ins are counted apart") {
  Running edge;
  for (const char* target : {"/api/version", "/plugin", "/plugins/x", "/plugin/x?y", "/PLUGIN/"}) {
    ClientSocket client(edge.server.port());
    client.Send(std::string("GET ") + target + " HTTP/1.1\r\n\r\n");
    CHECK(client.ReadResponse().status() != 0);
  }
  CHECK(edge.counters.rpc_http == 3);
  CHECK(edge.counters.rpc_http_plugin == 2);
}

TEST_CASE("a reply that outgrows the buffer is streamed, also to a slow reader and packed") {
  Running edge;
  const std::string body = RefusedPoints(20000);
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put?details", body));
  const auto response = client.ReadResponse();
  CHECK(response.status() == 400);
  CHECK(response.body.size() > 2000000);
  CHECK(response.body.ends_with("\"Unable to parse value to a number\"}]}"));
  client.Send(Post("/api/put?details", body, "Accept-Encoding: gzip\r\n"));
  std::string unpacked;
  REQUIRE(UnpackBody(ContentCoding::kGzip, client.ReadResponse().body, 1 << 24, 0, &unpacked).ok());
  CHECK(unpacked == response.body);
}

TEST_CASE("clients that stop reading are cut off, and with them no other request that takes long") {
  Running edge([](Options& options) { options.loop_threads = 1; });
  // As many as there are threads for the exact way of put.
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

TEST_CASE("a client that reads a little now and then is cut off, one that reads slowly is not") {
  Running edge([](Options& options) { options.loop_threads = 1; });
  const std::string request =
      Post("/api/put?details", RefusedPoints(80000), "Connection: close\r\n");
  ClientSocket trickle(edge.server.port(), 4096);
  trickle.Send(request);
  CHECK(AgeUntil(edge, 5'000, [&] {
    return !trickle.Skip(8192) || edge.counters.exceptions_timeout.load() == 1;
  }));
  // Some kilobytes a second, as long as the trickle took.
  ClientSocket slow(edge.server.port());
  slow.Send(request);
  std::string reply;
  for (int i = 0; i < 6; ++i) {
    reply += slow.Read(256 * 1024);
    edge.clock.AdvanceMs(30'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // the server looks once a second
  }
  reply += slow.ReadAll();
  CHECK(reply.ends_with("to a number\"}]}"));
  CHECK(edge.counters.exceptions_timeout.load() == 1);
}

TEST_CASE("clients that do not read keep no thread from others") {
  Running edge;
  ClientSocket deaf[4] = {
      ClientSocket(edge.server.port(), 4096), ClientSocket(edge.server.port(), 4096),
      ClientSocket(edge.server.port(), 4096), ClientSocket(edge.server.port(), 4096)};
  for (ClientSocket& client : deaf) client.Send(Post("/api/put?details", RefusedPoints(80000)));
  ClientSocket other(edge.server.port());
  other.Send(Post("/api/put?details", RefusedPoints(1)));
  CHECK(other.ReadResponse().status() == 400);
}

TEST_CASE("an answer that its client does not read is ended by call, and cut") {
  Running edge;
  ClientSocket other(edge.server.port());
  other.Send(Post("/api/put", Points(50000)));
  CHECK(other.ReadResponse().status() == 204);
  std::string target = "/api/query?start=1699999999&end=1700060000";
  for (const char* aggregator : {"sum", "min", "max", "avg", "none", "dev", "count", "zimsum",
                                 "mimmin", "mimmax", "first", "last", "median", "diff"}) {
    target += "&m=" + std::string(aggregator) + ":m";
  }
  ClientSocket deaf(edge.server.port(), 4096);
  deaf.Send("GET " + target + " HTTP/1.1\r\n\r\n");
  query::RunningQueries& queries = edge.queries.running();
  std::vector<query::RunningQueryInfo> running;
  while ((running = queries.Running()).empty() ||
         running[0].phase != query::QueryPhase::kAnswering) {
    std::this_thread::yield();
  }
  // The head is out, and with it the status: from here on the answer can only be cut.
  std::string answer = deaf.Read(1);
  other.Send("DELETE /api/stats/query?id=" + std::to_string(running[0].id) + " HTTP/1.1\r\n\r\n");
  CHECK(other.ReadResponse().status() == 204);
  while (!queries.Running().empty()) std::this_thread::yield();
  CHECK(queries.budget().taken() == 0);
  answer += deaf.ReadAll();
  CHECK(answer.starts_with("HTTP/1.1 200 OK"));
  CHECK_FALSE(answer.ends_with("0\r\n\r\n"));
}

TEST_CASE("idle connections of both dialects are closed after the timeout, busy ones are not") {
  Running edge([](Options& options) {
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

TEST_CASE("lines wait for a busy store without a thread, however long it takes, and none is lost") {
  Running edge;
  edge.points.RefuseAppends(1 << 30);
  // More than there are threads for the exact way of put.
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

TEST_CASE("lines that the log refuses are said to be, unless the settings keep it back") {
  for (const bool said : {true, false}) {
    Running edge([&](Options& options) { options.telnet_return_errors = said; });
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

TEST_CASE("commands whose replies are not read wait, and none is lost") {
  Running edge;
  std::atomic<int> asked{0};
  edge.services.collect_stats = [&](const auto& visit) {
    asked.fetch_add(1);
    for (int i = 0; i < 1000; ++i) visit("a.number.among.many", "", i);
  };
  constexpr int kAsked = 400;  // some 50 KB each, far more than the system keeps for a socket
  ClientSocket client(edge.server.port(), 4096);
  std::string lines;
  for (int i = 0; i < kAsked; ++i) lines += "stats\n";
  client.Send(lines + "exit\n");
  for (int before = -1; before != asked.load() || before == 0;) {
    before = asked.load();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  CHECK(asked.load() < kAsked / 2);
  const std::string text = client.ReadAll();
  size_t numbers = 0;
  for (size_t at = 0; (at = text.find("a.number.among.many", at)) != std::string::npos; ++at)
    ++numbers;
  CHECK(numbers == kAsked * 1000);
}

TEST_CASE("a writer that never reads what is said about its lines is not held up for long") {
  Running edge([](Options& options) { options.loop_threads = 1; });
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

TEST_CASE("a request that finds no memory is answered with 500, and the daemon goes on") {
  Running edge;
  ClientSocket web(edge.server.port());
  edge.points.ThrowOnAppends(1);
  web.Send(Post("/api/put", PointAt(1700000000)));
  const auto response = web.ReadResponse();
  CHECK(response.status() == 500);
  CHECK(response.body.find("std::bad_alloc") != std::string::npos);
  web.Send(Post("/api/put", PointAt(1700000000)));
  CHECK(web.ReadResponse().status() == 204);
  CHECK(edge.counters.rpc_exceptions.load() == 1);

  SUBCASE("of lines on the exact way: their connection is closed") {
    edge.points.ThrowOnAppends(1);
    ClientSocket lines(edge.server.port());
    lines.Send("put new 1700000000 1 host=a\n");
    CHECK(lines.ReadAll().empty());
    CHECK(edge.counters.rpc_exceptions.load() == 2);
  }
  SUBCASE("on a loop: the connection is closed") {
    edge.points.ThrowOnAppends(1);
    ClientSocket other(edge.server.port());
    other.Send(Post("/api/put", PointAt(1700000001)));
    CHECK(other.ReadAll().empty());
    while (edge.counters.exceptions_unknown.load() == 0) std::this_thread::yield();
  }
  SUBCASE("of another endpoint") {
    edge.services.collect_stats = [](const auto&) { throw std::bad_alloc(); };
    web.Send("GET /api/stats HTTP/1.1\r\n\r\n");
    CHECK(web.ReadResponse().status() == 500);
  }
  web.Send(Post("/api/put", PointAt(1700000002)));
  CHECK(web.ReadResponse().status() == 204);
}

TEST_CASE("connections above the limit are closed without a word") {
  Running edge([](Options& options) { options.connections_max = 1; });
  ClientSocket first(edge.server.port());
  first.Send(kGetVersion);
  CHECK(first.ReadResponse().status() == 200);
  ClientSocket second(edge.server.port());
  CHECK(second.ReadAll().empty());
  CHECK(edge.counters.connections_rejected.load() == 1);
  first.Send(kGetVersion);
  CHECK(first.ReadResponse().status() == 200);
}

TEST_CASE("Stop closes idle connections and answers what was being handled") {
  Running edge;
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
  CHECK(busy.ReadResponse().status() == 204);
  CHECK(busy.ReadAll().empty());
  stopper.join();
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE("a path and headers that are no UTF-8 spoil no JSON") {
  Running edge([](Options& options) { options.cors_domains = {"http://a"}; });
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

TEST_CASE("a host's name will do for the address, what is neither is named") {
  Running edge([](Options& options) { options.bind = "localhost"; });
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

TEST_CASE("a port that is taken is said to be") {
  Running edge;
  EdgeFixture other;
  other.options.port = edge.server.port();
  Server second(other.options, other.services);
  const Status status = second.Start();
  CHECK(status.code() == StatusCode::kIoError);
  CHECK(status.message().find(std::to_string(edge.server.port())) != std::string_view::npos);
}

}  // namespace hg::http
