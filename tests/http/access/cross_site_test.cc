#include "http/access/cross_site.h"

#include <doctest/doctest.h>

#include "http/access/header_names.h"
#include "tests/support/buffer_response.h"

namespace hg::http {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

Request With(Fields fields) {
  Request request = MakeRequest("POST", "/api/put");
  request.headers = std::move(fields);
  request.headers.emplace_back("host", "tsd.example.org:4242");
  return request;
}

std::string Site(Fields fields, std::vector<std::string> domains = {}, Star star = Star::kOrigins) {
  Options options;
  options.cors_domains = std::move(domains);
  return ForeignSite(With(std::move(fields)), options, star);
}

TEST_CASE("another site is detected by Origin, Sec-Fetch-Site or Referer") {
  CHECK(Site({}).empty());
  CHECK(Site({{"user-agent", "Mozilla/5.0"}}).empty());
  CHECK(Site({{"origin", ""}}).empty());
  CHECK(Site({{"origin", "http://evil.example"}}) == "Origin: http://evil.example");
  CHECK(Site({{"origin", "null"}}) == "Origin: null");
  CHECK(Site({{"origin", "http://tsd.example.org:4242"}}).empty());
  CHECK(Site({{"origin", "https://TSD.example.org:4242"}}).empty());
  CHECK_FALSE(Site({{"origin", "http://tsd.example.org"}}).empty());  // another port
  CHECK_FALSE(Site({{"origin", "http://tsd.example.org:4242.evil.example"}}).empty());
  CHECK(Site({{"sec-fetch-site", "same-origin"}}).empty());
  CHECK(Site({{"sec-fetch-site", "none"}}).empty());
  for (const char* value : {"cross-site", "same-site", "whatever"})
    CHECK(Site({{"sec-fetch-site", value}}) == "Sec-Fetch-Site: " + std::string(value));
  CHECK(Site({{"referer", "http://tsd.example.org:4242/#start=1h-ago"}}).empty());
  CHECK(Site({{"referer", "http://evil.example/page?secret"}}) == "Referer: http://evil.example");
  CHECK_FALSE(Site({{"referer", "http://evil.example/http://tsd.example.org:4242/"}}).empty());
  CHECK_FALSE(Site({{"referer", "http://tsd.example.org:4242@evil.example/"}}).empty());
  // One field that names another site is enough, in any position.
  CHECK_FALSE(
      Site({{"origin", "http://tsd.example.org:4242"}, {"origin", "http://evil.example"}}).empty());
  CHECK_FALSE(
      Site({{"origin", "http://tsd.example.org:4242"}, {"sec-fetch-site", "cross-site"}}).empty());
}

TEST_CASE("listed sites are allowed by Origin, or by Referer if there is no Origin") {
  const std::vector<std::string> good = {"http://good.example"};
  CHECK(Site({{"origin", "http://good.example"}, {"sec-fetch-site", "cross-site"}}, good).empty());
  CHECK(
      Site({{"referer", "http://good.example/x"}, {"sec-fetch-site", "cross-site"}}, good).empty());
  CHECK_FALSE(Site({{"origin", "http://evil.example"}}, good).empty());
  CHECK_FALSE(Site({{"sec-fetch-site", "cross-site"}}, good).empty());
  CHECK(Site({{"origin", "http://evil.example"}}, {"*"}).empty());
  CHECK_FALSE(Site({{"origin", "http://evil.example"}}, {"*"}, Star::kNobody).empty());
  // Requests for images and links have no Origin, and "*" applies only to requests with one.
  CHECK_FALSE(Site({{"sec-fetch-site", "cross-site"}}, {"*"}).empty());
}

TEST_CASE("a daemon on loopback addresses refuses host names that a page can choose") {
  Options options;
  for (const char* host : {"", "localhost", "localhost:4242", "LOCALHOST:4242", "127.0.0.1:4242",
                           "127.0.1.1", "[::1]:4242", "[::1]", "192.168.1.5:4242"}) {
    CAPTURE(host);
    CHECK(IsKnownHost(host, options));
  }
  for (const char* host : {"evil.example", "evil.example:4242", "localhost.evil.example",
                           "127.0.0.1.evil.example", "localhost:4242.evil.example", "[::1",
                           "localhost:x", ":4242", "evil.example:4242, localhost", "1.2.3.4x",
                           "[evil.example]", "[evil.example]:4242", "[bad]", "[]"}) {
    CAPTURE(host);
    CHECK_FALSE(IsKnownHost(host, options));
  }
  options.hosts = {"tsd.example.org"};
  CHECK(IsKnownHost("TSD.example.org:4242", options));
  CHECK_FALSE(IsKnownHost("tsd.example.org.evil.example", options));
  options.hosts = {"*"};
  CHECK(IsKnownHost("evil.example", options));
}

TEST_CASE("a forwarded request is detected by many header names") {
  CHECK_FALSE(WasForwarded(With({{"user-agent", "curl"}})));
  for (const char* name : {"forwarded", "forwarded-for", "x-forwarded-for", "x-forwarded-host",
                           "x-forwarded-proto", "x-real-ip", "via", "x-client-ip", "true-client-ip",
                           "cf-connecting-ip", "x-envoy-external-address"}) {
    CAPTURE(name);
    CHECK(WasForwarded(With({{name, "10.0.0.1"}})));
  }
}

TEST_CASE("header fields that may contain credentials are not shown") {
  for (const char* name : {"user-agent", "accept", "content-type", "host", "x-forwarded-for"})
    CHECK(MayBeShown(name));
  for (const char* name :
       {"authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token",
        "x-amz-security-token", "x-csrf-token", "apikey", "x-vault-token", "referer", "x-unknown"})
    CHECK_FALSE(MayBeShown(name));
}

}  // namespace
}  // namespace hg::http
