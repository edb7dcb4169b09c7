// Bodies of requests over a socket: chunks, codings, charsets, limits.

#include <doctest/doctest.h>

#include "http/wire/body_coding.h"
#include "tests/http/running_server.h"

namespace hg::http {
namespace {

TEST_CASE("bodies in chunks and compressed bodies are put") {
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

TEST_CASE("a body is read in the charset that its type names") {
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

TEST_CASE("a damaged compressed body closes the connection without a word") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  client.Send(Post("/api/put", "no gzip", "Content-Encoding: gzip\r\n"));
  CHECK(client.ReadAll().empty());
}

TEST_CASE("a body above the limit is refused with 413, however it comes") {
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

TEST_CASE("where chunked requests are off, a large or announced body gets the page") {
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

TEST_CASE("an announced body is asked for") {
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
