// Bodies of requests over a socket: chunks, codings, charsets, limits.

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "http/wire/body_coding.h"
#include "tests/http/running_server.h"

namespace hg::http {
namespace {

TEST_CASE("chunked and compressed bodies of put are accepted") {
  RunningServer edge;
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

TEST_CASE("a body is decoded by the charset of its content type") {
  RunningServer edge;
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

// The server reads the charset from the parsed head, and the endpoint reads the type from its
// request.
TEST_CASE("of several content types the first one counts, for the charset and for the endpoint") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  constexpr std::string_view kForm =
      "content-type: application/x-www-form-urlencoded; charset=ISO-8859-1\r\n";
  constexpr std::string_view kText = "Content-Type: text/plain; charset=UTF-8\r\n";
  const auto ask = [&](std::string_view first, std::string_view second) {
    client.Send(
        Post("/api/v1/query", "query=\"caf\xE9\"", std::string(first) + std::string(second)));
    return client.ReadResponse();
  };
  const auto form = ask(kForm, kText);
  CHECK(form.status() == 200);
  CHECK(form.body.find("\"caf\xC3\xA9\"") != std::string::npos);
  CHECK(ask(kText, kForm).status() == 400);
}

TEST_CASE("a damaged compressed body gets 400, and the connection stays open") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  for (const char* coding : {"gzip", "deflate"}) {
    for (const char* target : {"/api/put", "/api/query", "/write", "/v1/metrics"}) {
      CAPTURE(coding);
      CAPTURE(target);
      client.Send(Post(target, "\x1f\x8b\x08\x01garbage",
                       "Content-Encoding: " + std::string(coding) + "\r\n"));
      const auto refused = client.ReadResponse();
      CHECK(refused.status() == 400);
      CHECK(refused.body.find(coding) != std::string::npos);
    }
  }
  client.Send(Post("/api/put", PointAt(1700000000)));
  CHECK(client.ReadResponse().status() == 204);
}

TEST_CASE("a body in an unknown content coding gets 415 with its name, and is not read as text") {
  RunningServer edge;
  for (const char* target : {"/api/put", "/api/query", "/write", "/v1/metrics", "/q"}) {
    for (const char* coding : {"br", "zstd", "gzip, gzip", "\"gzip\""}) {
      CAPTURE(target);
      CAPTURE(coding);
      ClientSocket client(edge.server.port());
      client.Send(
          Post(target, PointAt(1700000000), "Content-Encoding: " + std::string(coding) + "\r\n"));
      const auto refused = client.ReadResponse();
      CHECK(refused.status() == 415);
      const std::string name(coding, coding[0] == '"' ? 0 : std::string(coding).size());
      CHECK(refused.body.find(name) != std::string::npos);
    }
  }
  CHECK(edge.Cells().empty());
  ClientSocket client(edge.server.port());
  for (const char* coding : {"identity", "Identity", "", "snappy"}) {
    client.Send(
        Post("/api/put", PointAt(1700000000), "Content-Encoding: " + std::string(coding) + "\r\n"));
    CHECK(client.ReadResponse().status() == 204);
  }
  client.Send("GET /api/version HTTP/1.1\r\nContent-Encoding: br\r\n\r\n");  // no body
  CHECK(client.ReadResponse().status() == 200);
}

TEST_CASE("a body above the limit gets 413, however it is sent") {
  RunningServer edge([](Options& options) { options.body_bytes_max = 10000; });
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

TEST_CASE("a body whose document would need too much memory is refused, and its memory is freed") {
  RunningServer edge([](Options& options) { options.request_memory_bytes_max = 16 << 20; });
  std::string empties = "[{}", ones = "[1";
  for (int i = 0; i < 200000; ++i) {
    empties += ",{}";
    ones += ",1";
  }
  ClientSocket client(edge.server.port());
  for (int i = 0; i < 20; ++i) {
    for (const auto& [target, body] :
         {std::pair("/api/put", &empties), std::pair("/api/put?details", &empties),
          std::pair("/api/query", &ones), std::pair("/api/query/exp", &ones),
          std::pair("/api/annotation", &ones), std::pair("/api/uid/assign", &ones)}) {
      CAPTURE(target);
      client.Send(Post(target, *body + "]"));
      const auto response = client.ReadResponse();
      CHECK(response.status() == 413);
      CHECK(response.body.find("tsd.memory.limit") != std::string::npos);
    }
    client.Send(Post("/api/put?summary", Points(5000)));
    CHECK(client.ReadResponse().body == R"({"success":5000,"failed":0})");
  }
}

/// The first bytes of a request whose body is incomplete.
std::string Begun(size_t announced, size_t sent) {
  return "POST /api/put HTTP/1.1\r\nContent-Length: " + std::to_string(announced) + "\r\n\r\n[" +
         std::string(sent, ' ');
}

TEST_CASE("bodies that are only half sent do not take all memory: other requests get 503") {
  RunningServer edge([](Options& options) { options.request_memory_bytes_max = 8 << 20; });
  const std::string large = Post("/api/put", Points(3000) + std::string(600'000, ' '));
  const auto answer = [&](const std::string& request) {
    ClientSocket client(edge.server.port());
    client.Send(request);
    return client.ReadResponse();
  };
  CHECK(answer(large).status() == 204);
  {
    // If a complete request arrives before these two, one of the two is refused instead. Then both
    // are started again.
    std::optional<ClientSocket> first, second;
    const auto begin = [&] {
      for (std::optional<ClientSocket>* client : {&first, &second}) {
        client->emplace(edge.server.port());
        (*client)->Send(Begun(4'000'000, 3'900'000));
      }
    };
    begin();
    ClientSocket::Response refused;
    CHECK(AgeUntil(edge, 0, [&] {
      refused = answer(large);
      if (refused.status() != 503) begin();
      return refused.status() == 503;
    }));
    CHECK(refused.head.find("Retry-After: 1\r\n") != std::string::npos);
    CHECK(refused.body.find("tsd.memory.limit") != std::string::npos);
    // Small requests still succeed.
    CHECK(answer(Post("/api/put?summary", Points(500))).status() == 200);
  }
  CHECK(AgeUntil(edge, 0, [&] { return answer(large).status() == 204; }));
  // A single request may use half of the memory, whatever its content is. These requests need more.
  for (const std::string& request :
       {Begun(6'000'000, 5'000'000),
        "POST /api/put HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4c4b40\r\n" +
            std::string(5'000'000, ' ')}) {
    const auto refused = answer(request);
    CHECK(refused.status() == 413);
    CHECK(refused.body.find("tsd.memory.limit") != std::string::npos);
  }
  for (int i = 0; i < 20; ++i) CHECK(answer(large).status() == 204);
}

TEST_CASE("very many small requests that are only half sent do not take all memory") {
  RunningServer edge([](Options& options) { options.request_memory_bytes_max = 1 << 20; });
  const std::string head = "POST /api/put HTTP/1.1\r\nA: " + std::string(7000, 'a');
  for (const std::string& begun :
       {head, head + "\r\nContent-Length: 9000\r\n\r\n[" + std::string(7000, ' ')}) {
    std::vector<std::unique_ptr<ClientSocket>> clients;
    const auto put = [&] {
      ClientSocket client(edge.server.port());
      client.Send(begun + std::string(1000, ' '));
      client.HalfClose();
      return client.ReadAll();
    };
    // The server closes the connection of a request that is cut off, without a reply.
    CHECK(put().empty());
    for (int i = 0; i < 250; ++i) {
      clients.push_back(std::make_unique<ClientSocket>(edge.server.port()));
      clients.back()->Send(begun);
    }
    std::string refused;
    CHECK(AgeUntil(edge, 0, [&] { return !(refused = put()).empty(); }));
    CHECK(refused.starts_with("HTTP/1.1 503 "));
    CHECK(refused.find("Retry-After: 1\r\n") != std::string::npos);
    CHECK(refused.find("tsd.memory.limit") != std::string::npos);
    // A request that arrives at once needs none of this memory.
    ClientSocket client(edge.server.port());
    client.Send(Post("/api/put", PointAt(1700000000)));
    CHECK(client.ReadResponse().status() == 204);
    clients.clear();
    CHECK(AgeUntil(edge, 0, [&] { return put().empty(); }));
  }
}

TEST_CASE("the memory of unpacked bodies is counted, and freed after the response") {
  RunningServer edge([](Options& options) { options.request_memory_bytes_max = 8 << 20; });
  ClientSocket client(edge.server.port());
  const auto send = [&](const std::string& body) {
    BodyPacker packer(ContentCoding::kGzip);
    std::string packed;
    packer.Pack(body, true, &packed);
    client.Send(Post("/api/put?summary", packed, "Content-Encoding: gzip\r\n"));
    return client.ReadResponse().status();
  };
  for (int i = 0; i < 10; ++i) CHECK(send(Points(3000)) == 200);
  CHECK(send(Points(3000) + std::string(3'000'000, ' ')) == 413);
  for (int i = 0; i < 10; ++i) CHECK(send(Points(3000)) == 200);
}

TEST_CASE("the pool stores large bodies of points, and the loop small ones of known series") {
  RunningServer edge([](Options& options) { options.loop_threads = 1; });
  std::atomic<std::thread::id> stored_by;
  edge.points.before_append = [&stored_by] { stored_by = std::this_thread::get_id(); };
  ClientSocket client(edge.server.port());
  const auto put = [&](std::string_view target, const std::string& body, bool packed) {
    std::string sent = body;
    if (packed) {
      BodyPacker packer(ContentCoding::kGzip);
      sent.clear();
      packer.Pack(body, true, &sent);
    }
    client.Send(Post(target, sent, packed ? "Content-Encoding: gzip\r\n" : ""));
    CHECK(client.ReadResponse().status() == 204);
    return stored_by.load();
  };
  std::string lines;
  for (int i = 0; i < 40000; ++i)
    lines += "cpu,host=a busy=1 " + std::to_string(1700000000 + i) + "\n";
  const std::string line = lines.substr(0, lines.find('\n') + 1);
  put("/api/put", Points(1), false);
  put("/write?precision=s", line, false);
  const auto loop = put("/api/put", Points(1), false);
  CHECK(put("/write?precision=s", line, false) == loop);
  CHECK(put("/api/put", Points(1), true) == loop);
  for (const bool packed : {false, true}) {
    CHECK(put("/api/put", Points(20000), packed) != loop);
    CHECK(put("/write?precision=s", lines, packed) != loop);
  }
  CHECK(edge.Cells().size() > 20000);
}

TEST_CASE(
    "bodies in other charsets than UTF-8 are left to the pool, because tables may be loaded") {
  RunningServer edge([](Options& options) { options.loop_threads = 1; });
  std::atomic<std::thread::id> stored_by;
  edge.points.before_append = [&stored_by] { stored_by = std::this_thread::get_id(); };
  edge.points.reads_ask = true;  // small queries may run on the event loop
  ClientSocket client(edge.server.port());
  constexpr std::string_view kUtf8 = "Content-Type: application/json; charset=UTF-8\r\n";
  constexpr std::string_view kLatin = "Content-Type: application/json; charset=ISO-8859-1\r\n";
  constexpr std::string_view kGzip = "Content-Encoding: gzip\r\n";
  const auto post = [&](std::string_view target, const std::string& body, std::string_view type,
                        std::string_view coding) {
    std::string sent = body;
    if (!coding.empty()) {
      BodyPacker packer(ContentCoding::kGzip);
      sent.clear();
      packer.Pack(body, true, &sent);
    }
    client.Send(Post(target, sent, std::string(type) + std::string(coding)));
    CHECK(client.ReadResponse().status() < 300);
    return stored_by.load();
  };
  const std::string line = "cpu,host=a busy=1 1700000000000000000\n";
  const std::string query = R"({"start":1699999999,"end":1700060000,"queries":[{"metric":"m",)"
                            R"("aggregator":"sum"}]})";
  post("/api/put", Points(1), kUtf8, "");
  post("/write", line, kUtf8, "");
  const auto loop = post("/api/put", Points(1), kUtf8, "");
  CHECK(post("/write", line, kUtf8, "") == loop);
  int on_loop = 0;
  for (const std::string_view coding : {std::string_view(), kGzip}) {
    CAPTURE(std::string(coding));
    CHECK(post("/api/put", Points(1), kUtf8, coding) == loop);
    CHECK(post("/api/put", Points(1), kLatin, coding) != loop);
    CHECK(post("/write", line, kLatin, coding) != loop);
    post("/api/query", query, kUtf8, coding);
    CHECK(edge.points.scans_on_loop == ++on_loop);
    post("/api/query", query, kLatin, coding);
    CHECK(edge.points.scans_on_loop == on_loop);
  }
}

TEST_CASE("an administrator can end a request while its body is unpacked") {
  RunningServer edge;
  BodyPacker packer(ContentCoding::kGzip);
  std::string member, body;
  packer.Pack("", true, &member);
  while (body.size() < 48 << 20) body += member;
  bool killed = false;
  for (int tries = 0; tries < 10 && !killed; ++tries) {
    std::atomic<bool> answered = false;
    int status = 0;
    std::thread client([&] {
      ClientSocket socket(edge.server.port());
      socket.Send(Post("/api/query", body, "Content-Encoding: gzip\r\n"));
      status = socket.ReadResponse().status();
      answered = true;
    });
    while (!killed && !answered) {
      for (const auto& running : edge.queries.running().Running())
        if (running.endpoint == "POST /api/query") killed = edge.queries.running().Kill(running.id);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    client.join();
    if (killed) CHECK(status == 503);
  }
  CHECK(killed);
}

TEST_CASE(
    "large compressed bodies that are damaged or have an unknown charset are handled like small "
    "ones") {
  RunningServer edge;
  BodyPacker packer(ContentCoding::kGzip);
  std::string packed;
  packer.Pack(Points(30000), true, &packed);
  {
    ClientSocket client(edge.server.port());
    std::string damaged = packed;
    damaged[damaged.size() - 6] ^= 1;  // its checksum
    client.Send(Post("/api/put", damaged, "Content-Encoding: gzip\r\n"));
    CHECK(client.ReadResponse().status() == 400);
  }
  ClientSocket client(edge.server.port());
  constexpr std::string_view kFields = "Content-Encoding: gzip\r\nContent-Type: x; charset=";
  client.Send(Post("/api/put", packed, std::string(kFields) + "no-such\r\n"));
  CHECK(client.ReadResponse().status() == 400);
  client.Send(Post("/api/put?summary", packed, std::string(kFields) + "ISO-8859-1\r\n"));
  CHECK(client.ReadResponse().body == R"({"success":30000,"failed":0})");
}

TEST_CASE("if chunked requests are disabled, a large or announced body gets the HTML page") {
  RunningServer edge([](Options& options) { options.chunked_enabled = false; });
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

TEST_CASE("a body announced by Expect is requested") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  const std::string request = Post("/api/put", Points(10), "Expect: 100-continue\r\n");
  const size_t head = request.find("\r\n\r\n") + 4;
  client.Send(request.substr(0, head));
  const std::string go = "HTTP/1.1 100 Continue\r\n\r\n";
  CHECK(client.Read(go.size()) == go);
  client.Send(request.substr(head));
  CHECK(client.ReadResponse().status() == 204);
}

}  // namespace
}  // namespace hg::http
