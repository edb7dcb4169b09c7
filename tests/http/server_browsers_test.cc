// Requests that a browser can be made to send, and how they are refused.

#include <doctest/doctest.h>

#include "tests/http/running_server.h"

namespace hg::http {
namespace {

std::string Get(std::string_view target, std::string_view fields = {}) {
  return "GET " + std::string(target) + " HTTP/1.1\r\n" + std::string(fields) + "\r\n";
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr std::string_view kNoSniff = "X-Content-Type-Options: nosniff\r\n";

TEST_CASE("a daemon on loopback addresses refuses pages that use a host name of their own") {
  RunningServer edge([](Options& options) { options.hosts = {"tsd.example.org"}; });
  ClientSocket client(edge.server.port());
  for (const char* host : {"localhost:4242", "127.0.0.1", "[::1]:80", "TSD.example.org", ""}) {
    CAPTURE(host);
    client.Send(Get("/api/version", "Host: " + std::string(host) + "\r\n"));
    CHECK(client.ReadResponse().status() == 200);
  }
  client.Send(kGetVersion);
  CHECK(client.ReadResponse().status() == 200);
  for (const std::string& request :
       {Get("/api/version", "Host: evil.example:4242\r\n"),
        Post("/api/put", PointAt(1700000000), "Host: localhost.evil.example\r\n"),
        Post("/write", "m,host=a v=1", "Host: evil.example\r\n"),
        Get("/", "Host: \xFFvil.example\r\n")}) {
    CAPTURE(request);
    ClientSocket page(edge.server.port());
    page.Send(request);
    const auto refused = page.ReadResponse();
    CHECK(refused.status() == 403);
    CHECK(Has(refused.body, "vil.example"));
    CHECK(Has(refused.body, "tsd.http.request.hosts"));
    CHECK(Has(refused.head, "Connection: close\r\n"));
    CHECK(page.ReadAll().empty());
  }
  CHECK(edge.Ids().empty());
}

TEST_CASE("a daemon on other addresses accepts any host name, unless names are configured") {
  const auto status = [](RunningServer& edge) {
    ClientSocket client(edge.server.port());
    client.Send(Get("/api/version", "Host: any.example\r\n"));
    return client.ReadResponse().status();
  };
  RunningServer open([](Options& options) { options.bind = "0.0.0.0"; });
  CHECK(status(open) == 200);
  RunningServer listed([](Options& options) {
    options.bind = "0.0.0.0";
    options.hosts = {"tsd.example.org"};
  });
  CHECK(status(listed) == 403);
}

TEST_CASE("without authentication points of pages of other sites are refused on both paths") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  const auto status = [&](const std::string& target, const std::string& body,
                          const std::string& fields) {
    client.Send(Post(target, body, "Host: localhost\r\n" + fields));
    return client.ReadResponse().status();
  };
  const std::string lines = "m,host=a v=1 1700000000\n", by_influx = "/write?precision=s";
  for (int round = 0; round < 2; ++round) {  // by name first, then on the fast path
    CHECK(status("/api/put", PointAt(1700000000), "User-Agent: Mozilla/5.0\r\n") == 204);
    CHECK(status(by_influx, lines, "") == 204);
  }
  const int appends = edge.points.appends.load();
  for (const char* field : {"Origin: http://evil.example\r\nContent-Type: text/plain\r\n",
                            "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n",
                            "sec-fetch-site: same-site\r\n", "Referer: http://evil.example/\r\n"}) {
    CAPTURE(field);
    CHECK(status("/api/put", PointAt(1700000001), field) == 403);
    CHECK(status(by_influx, lines, field) == 403);
    CHECK(status("/api/v2/write?precision=s", lines, field) == 403);
    CHECK(status("/v1/metrics", "{}", field) == 403);
    CHECK(status("/api/v1/write", "", field) == 403);
  }
  CHECK(edge.points.appends.load() == appends);
  CHECK(status("/api/put", PointAt(1700000001), "Origin: http://localhost\r\n") == 204);
}

TEST_CASE("every response forbids browsers to guess its type, and pages may run nothing") {
  RunningServer edge;
  const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n";
  for (int round = 0; round < 2; ++round) {  // by name first, then on the fast path
    for (const std::string& request : {Post("/api/put", PointAt(1700000000)),
                                       Post("/api/put?details", PointAt(1700000000)),
                                       Post("/api/put", "no JSON"),
                                       Post("/api/put", "x", "Content-Encoding: gzip\r\n"),
                                       Post("/write?precision=s", "m,host=a v=1 1700000000\n"),
                                       Get("/api/version"),
                                       Get("/version"),
                                       Get("/api/nothing"),
                                       Get("/nothing"),
                                       Get("/nothing/x.html?json"),
                                       Get("/"),
                                       Get("/s/missing.js"),
                                       Get("/q?start=1h-ago"),
                                       Get("/logs"),
                                       Get("/api/put"),
                                       Get("/api/v0/suggest"),
                                       Get("/suggest/x.html?json&type=%3Cscript%3E"),
                                       Get("/healthz"),
                                       Get("/plugin/x"),
                                       Get("/api/query?start=1h-ago&m=sum:none"),
                                       Get("/api/version?a=%zz"),
                                       Get("/api/version", "Accept-Encoding: gzip\r\n"),
                                       std::string("OPTIONS /api/put HTTP/1.1\r\n\r\n")}) {
      CAPTURE(request);
      ClientSocket client(edge.server.port());
      client.Send(request);
      const auto response = client.ReadResponse();
      CHECK(Has(response.head, kNoSniff));
      const bool page = Has(response.head, "Content-Type: text/html");
      CHECK(Has(response.head, "Content-Security-Policy: default-src 'none';") == page);
      CHECK_FALSE(Has(response.head, "unsafe"));
      if (Has(response.body, "<script>")) CHECK_FALSE(page);
    }
  }
  for (const std::string& request :
       {std::string("GET * HTTP/1.1\r\n\r\n"), "POST /api/put HTTP/1.1\r\n" + chunked + "x\r\n",
        std::string("GET / HTTP/1.1\n"), Get("/", "Host: evil.example\r\n"),
        std::string("POST /api/put HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n")}) {
    CAPTURE(request);
    ClientSocket client(edge.server.port());
    client.Send(request);
    CHECK(Has(client.ReadResponse().head, kNoSniff));
  }
}

TEST_CASE("values from a request cannot end a header line") {
  RunningServer edge([](Options& options) { options.cors_domains = {"*"}; });
  ClientSocket client(edge.server.port());
  client.Send(Get("/q?start=1%0d%0aSet-Cookie:%20a=b&x=\"y", "Origin: http://a%0d%0aX: y\r\n"));
  const auto response = client.ReadResponse();
  CHECK(Has(response.head, "Location: /#start=1%0d%0aSet-Cookie:%20a=b&x=\"y\r\n"));
  CHECK(Has(response.head, "Access-Control-Allow-Origin: http://a%0d%0aX: y\r\n"));
  CHECK_FALSE(Has(response.head, "\r\nSet-Cookie"));
  CHECK_FALSE(Has(response.head, "\r\nX:"));
}

}  // namespace
}  // namespace hg::http
