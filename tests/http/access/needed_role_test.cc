#include "http/access/needed_role.h"

#include <doctest/doctest.h>

#include <set>

#include "http/access/access.h"
#include "http/routes/endpoints.h"
#include "http/routes/router.h"
#include "tests/http/edge_fixture.h"

namespace hg::http {
namespace {

struct Case {
  const char* verb;
  const char* target;
  Role role;
};

/// The role of each endpoint. An endpoint that is missing here fails the test below.
const Case kCases[] = {
    {"GET", "/", Role::kRead},
    {"GET", "/api/admin/regions", Role::kAdmin},
    {"GET", "/api/aggregators", Role::kRead},
    {"GET", "/aggregators", Role::kRead},
    {"GET", "/api/annotation?start_time=1", Role::kRead},
    {"POST", "/api/annotation", Role::kWrite},
    {"PUT", "/api/annotation", Role::kWrite},
    {"DELETE", "/api/annotation", Role::kWrite},
    {"GET", "/api/annotation?start_time=1&method_override=delete", Role::kWrite},
    {"GET", "/api/annotation?start_time=1&method_override=get", Role::kRead},
    {"DELETE", "/api/annotation/bulk", Role::kWrite},
    {"POST", "/api/annotations", Role::kWrite},
    {"GET", "/api/config", Role::kRead},
    {"GET", "/diediedie", Role::kAdmin},
    {"GET", "/api/dropcaches", Role::kAdmin},
    {"GET", "/favicon.ico", Role::kRead},
    {"POST", "/api/histogram", Role::kWrite},
    {"GET", "/healthz", Role::kAnyone},
    {"GET", "/readyz", Role::kAnyone},
    {"GET", "/-/healthy", Role::kAnyone},
    {"GET", "/-/ready", Role::kAnyone},
    {"GET", "/metrics", Role::kRead},
    {"GET", "/logs", Role::kAdmin},
    {"POST", "/api/put", Role::kWrite},
    {"POST", "/api/v1/put?details", Role::kWrite},
    {"GET", "/q?start=1", Role::kRead},
    {"GET", "/api/query?start=1", Role::kRead},
    {"POST", "/api/query", Role::kRead},
    {"DELETE", "/api/query?start=1", Role::kAdmin},
    {"GET", "/api/query?start=1&method_override=DELETE", Role::kAdmin},
    {"POST", "/api/query/exp", Role::kRead},
    {"GET", "/api/query/last", Role::kRead},
    {"POST", "/api/rollup", Role::kWrite},
    {"GET", "/s/page.css", Role::kRead},
    {"POST", "/api/search/lookup", Role::kRead},
    {"GET", "/api/stats", Role::kRead},
    {"GET", "/api/stats/query", Role::kRead},
    {"DELETE", "/api/stats/query?id=1", Role::kAdmin},
    {"GET", "/stats", Role::kRead},
    {"GET", "/api/suggest?type=metrics", Role::kRead},
    {"GET", "/suggest?type=metrics", Role::kRead},
    {"GET", "/api/tree", Role::kRead},
    {"POST", "/api/tree/rule", Role::kWrite},
    {"GET", "/api/uid/uidmeta?uid=1", Role::kRead},
    {"DELETE", "/api/uid/tsmeta", Role::kWrite},
    {"GET", "/api/uid/assign?metric=m", Role::kWrite},
    {"POST", "/api/uid/rename", Role::kAdmin},
    {"GET", "/api/user", Role::kUser},
    {"GET", "/api/version", Role::kUser},
    {"GET", "/version", Role::kUser},
    {"POST", "/api/metadata/put", Role::kWrite},
    {"POST", "/api/v1/write", Role::kWrite},
    {"POST", "/api/v1/read", Role::kRead},
    {"GET", "/api/v1/query?query=m", Role::kRead},
    {"POST", "/api/v1/query", Role::kRead},
    {"GET", "/api/v1/query_range?query=m", Role::kRead},
    {"POST", "/api/v1/query_range", Role::kRead},
    {"GET", "/api/v1/label/__name__/values", Role::kRead},
    {"GET", "/api/v1/labels", Role::kRead},
    {"GET", "/api/v1/metadata", Role::kRead},
    {"POST", "/api/v1/series", Role::kRead},
    {"GET", "/api/v1/rules", Role::kRead},
    {"GET", "/api/v1/alertmanagers", Role::kRead},
    {"GET", "/api/v1/format_query?query=m", Role::kRead},
    {"GET", "/api/v1/parse_query?query=m", Role::kRead},
    {"POST", "/api/v1/query_exemplars", Role::kRead},
    {"GET", "/api/v1/scrape_pools", Role::kRead},
    {"GET", "/api/v1/status/config", Role::kRead},
    {"GET", "/api/v1/status/flags", Role::kRead},
    {"GET", "/api/v1/status/runtimeinfo", Role::kRead},
    {"GET", "/api/v1/status/tsdb", Role::kRead},
    {"GET", "/api/v1/targets", Role::kRead},
    {"GET", "/api/v1/targets/metadata", Role::kRead},
    {"GET", "/federate", Role::kRead},
    {"GET", "/api/v1/alerts", Role::kRead},
    {"GET", "/api/v1/status/buildinfo", Role::kRead},
    {"POST", "/write?db=x", Role::kWrite},
    {"POST", "/api/v2/write?bucket=x", Role::kWrite},
    {"POST", "/query?q=CREATE%20DATABASE%20x", Role::kWrite},
    {"GET", "/ping", Role::kUser},
    {"GET", "/health", Role::kUser},
    {"POST", "/v1/metrics", Role::kWrite},
    {"POST", "/influx/write?db=x", Role::kWrite},
    {"POST", "/influx/api/v2/write", Role::kWrite},
    {"POST", "/influx/query?q=CREATE+DATABASE+x", Role::kWrite},
    {"GET", "/api/v1/metadata/", Role::kRead},
    {"POST", "/v1/metrics/", Role::kWrite},
    {"POST", "/api/v1/otlp/v1/metrics", Role::kWrite},
    {"POST", "/opentelemetry/v1/metrics", Role::kWrite},
};

TEST_CASE("each endpoint and method has its role, and no endpoint is missing") {
  const Options options;
  std::set<const Endpoint*> met;
  for (const Case& c : kCases) {
    CAPTURE(c.verb);
    CAPTURE(c.target);
    const Request request = MakeRequest(c.verb, c.target);
    const Endpoint* const endpoint = FindEndpoint(request, options);
    REQUIRE(endpoint != nullptr);
    CHECK(endpoint->role(request) == c.role);
    met.insert(endpoint);
  }
  for (const Endpoint& endpoint : Endpoints()) {
    CAPTURE(std::string(endpoint.name));
    CHECK(met.contains(&endpoint));
  }
}

TEST_CASE("unauthenticated clients get 401, and users without the role 403") {
  EdgeFixture edge;
  for (const Case& c : kCases) {
    CAPTURE(c.verb);
    CAPTURE(c.target);
    Request request = MakeRequest(c.verb, c.target, "{}");
    request.roles = Roles();
    BufferResponse stranger;
    Dispatch(request, edge.services, stranger);
    CHECK(stranger.status == (c.role == Role::kAnyone ? 200 : 401));
    if (c.role == Role::kAnyone || c.role == Role::kUser) continue;
    CHECK(stranger.Header("WWW-Authenticate") != nullptr);
    request.user = "ann";
    request.roles = Roles::Of(c.role == Role::kWrite ? Role::kRead : Role::kWrite);
    BufferResponse without;
    Dispatch(request, edge.services, without);
    CHECK(without.status == 403);
    CHECK(without.body.find("ann") != std::string::npos);
    CHECK(without.body.find(RoleName(c.role)) != std::string::npos);
  }
  CHECK(edge.Ids().empty());
  CHECK(edge.Cells().empty());
}

TEST_CASE("a body that requests a deletion needs the role admin") {
  EdgeFixture edge;
  REQUIRE(
      edge.Post("/api/put", R"({"metric":"m","timestamp":1700000000,"value":1,"tags":{"a":"b"}})")
          .status == 204);
  Request request = MakeRequest(
      "POST", "/api/query",
      R"({"start":1699999999,"delete":true,"queries":[{"metric":"m","aggregator":"sum"}]})");
  request.user = "ann";
  request.roles = Roles::Of(Role::kRead).With(Role::kWrite);
  BufferResponse refused;
  Dispatch(request, edge.services, refused);
  CHECK(refused.status == 403);
  CHECK(edge.Cells().size() == 1);
  request.roles = Roles::Of(Role::kAdmin);
  BufferResponse done;
  Dispatch(request, edge.services, done);
  CHECK(done.status == 200);
  CHECK(edge.Cells().empty());
}

using Fields = std::vector<std::pair<std::string, std::string>>;

/// A daemon with authentication, and its responses to a browser or script of an administrator.
struct GuardedEdge : EdgeFixture {
  GuardedEdge() { services.access = &access; }

  BufferResponse Ask(std::string_view verb, std::string_view target, Fields fields,
                     std::string_view body = {}) {
    Request request = MakeRequest(verb, target, body);
    request.headers = std::move(fields);
    request.headers.emplace_back("host", "tsd.example.org:4242");
    request.user = "ann";
    BufferResponse reply;
    Dispatch(request, services, reply);
    return reply;
  }
  int PutStatus(Fields fields) { return Ask("POST", "/api/put", std::move(fields), kPoint).status; }

  static constexpr std::string_view kPoint =
      R"({"metric":"m","timestamp":1700000000,"value":1,"tags":{"a":"b"}})";
  Access access;
};

const Fields::value_type kEvil = {"origin", "http://evil.example.com"};
const Fields::value_type kBrowser = {"user-agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/115.0"};
const Fields::value_type kBasic = {"authorization", "basic YW5uOnNlY3JldA=="};
const Fields::value_type kBearer = {"authorization", "Bearer hg_1"};

TEST_CASE("a page of another site cannot change anything, with or without authentication") {
  GuardedEdge edge;
  for (Access* access : {static_cast<Access*>(nullptr), &edge.access}) {
    edge.services.access = access;
    edge.options.cors_domains.clear();
    CHECK(edge.PutStatus({kEvil}) == 403);
    CHECK(edge.PutStatus({{"origin", "null"}}) == 403);
    CHECK(edge.PutStatus({{"sec-fetch-site", "cross-site"}}) == 403);
    CHECK(edge.PutStatus({{"origin", "http://tsd.example.org:4242"}}) == 204);
    CHECK(edge.PutStatus({{"sec-fetch-site", "same-origin"}}) == 204);
    CHECK(edge.PutStatus({}) == 204);
    CHECK(edge.PutStatus({kBrowser}) == 204);
    edge.options.cors_domains = {"http://good.example.com"};
    CHECK(edge.PutStatus({{"origin", "http://good.example.com"}, kBasic}) == 204);
  }
}

TEST_CASE("every request that changes something is refused to pages of other sites") {
  GuardedEdge edge;
  edge.services.access = nullptr;
  for (const Case& c : kCases) {
    if (c.role != Role::kWrite && c.role != Role::kAdmin) continue;
    const std::string_view target = c.target;
    if (target == "/logs") continue;  // it only shows data
    CAPTURE(c.verb);
    CAPTURE(c.target);
    for (const Fields::value_type& field :
         {kEvil, Fields::value_type("sec-fetch-site", "cross-site"),
          Fields::value_type("referer", "http://evil.example.com/page")}) {
      const BufferResponse reply = edge.Ask(c.verb, c.target, {field}, "{}");
      CHECK(reply.status == 403);
      CHECK(reply.body.find("cors_domains") != std::string::npos);
    }
  }
  CHECK(edge.Ids().empty());
  CHECK(edge.Cells().empty());
}

TEST_CASE(
    "if all origins are allowed, pages cannot make changes with the browser's own credentials") {
  GuardedEdge edge;
  edge.options.cors_domains = {"*"};
  CHECK(edge.PutStatus({kEvil, kBearer}) == 204);
  CHECK(edge.PutStatus({kEvil, kBasic}) == 403);
  CHECK(edge.PutStatus({kEvil}) == 403);  // the browser may have sent a client certificate
  CHECK(edge.Ask("GET", "/api/suggest?type=metrics", {kEvil, kBasic}).status == 200);
  edge.services.access = nullptr;  // without authentication, as in OpenTSDB
  CHECK(edge.PutStatus({kEvil}) == 204);
}

TEST_CASE("a page of another site cannot delete points by the body of a query") {
  GuardedEdge edge;
  REQUIRE(edge.PutStatus({}) == 204);
  const auto status = [&edge](Fields fields, const std::string& deletes) {
    const std::string body = R"({"start":1699999999,"delete":)" + deletes +
                             R"(,"queries":[{"metric":"m","aggregator":"sum"}]})";
    return edge.Ask("POST", "/api/query", std::move(fields), body).status;
  };
  for (Access* access : {static_cast<Access*>(nullptr), &edge.access}) {
    edge.services.access = access;
    CHECK(status({kEvil, kBasic}, "true") == 403);
    CHECK(status({{"sec-fetch-site", "cross-site"}, kBasic}, "true") == 403);
    CHECK(status({kEvil, kBasic, {"content-type", "text/plain"}}, "true") == 403);
    CHECK(status({kEvil, kBasic}, "false") == 200);
  }
  CHECK(edge.Cells().size() == 1);
  CHECK(status({kBasic}, "true") == 200);
  CHECK(edge.Cells().empty());
}

TEST_CASE("tools may make changes by GET, but pages may not") {
  GuardedEdge edge;
  edge.services.recent_log = [] { return std::vector<std::string>(); };
  edge.services.set_log_level = [](const std::string&) { return true; };
  for (Access* access : {static_cast<Access*>(nullptr), &edge.access}) {
    edge.services.access = access;
    for (const char* change :
         {"/api/dropcaches", "/api/uid/assign?metric=m", "/logs?level=INFO",
          "/query?q=create%20database%20x", "/query?q=%20CREATE%20DATABASE%20x",
          "/api/query?start=1&m=sum:none&method_override=delete"}) {
      CAPTURE(change);
      CHECK(edge.Ask("GET", change, {kBasic, {"sec-fetch-site", "same-site"}}).status == 403);
      CHECK(edge.Ask("GET", change, {kBasic, kEvil}).status == 403);
      CHECK(edge.Ask("GET", change, {kBrowser, kBasic, {"referer", "http://evil.example.com/"}})
                .status == 403);
      for (const Fields& fields :
           {Fields{kBasic, kBrowser, {"sec-fetch-site", "none"}},
            Fields{kBasic, kBrowser, {"sec-fetch-site", "same-origin"}},
            Fields{kBasic, {"referer", "http://tsd.example.org:4242/"}}, Fields{kBearer, kBrowser},
            Fields{kBasic, kBrowser}, Fields{kBasic, {"user-agent", "curl/7.88.1"}}}) {
        CHECK(edge.Ask("GET", change, fields).status != 403);
      }
    }
    CHECK(edge.Ask("HEAD", "/diediedie", {kEvil, kBasic}).status == 403);
    CHECK(edge.Ask("GET", "/diediedie", {{"sec-fetch-site", "cross-site"}}).status == 403);
    // These requests only show data, to administrators or writers, so links to them are allowed.
    for (const char* look : {"/logs", "/query?q=SHOW%20DATABASES", "/api/stats"}) {
      CAPTURE(look);
      CHECK(edge.Ask("GET", look, {kBrowser, kBasic, {"sec-fetch-site", "cross-site"}}).status !=
            403);
    }
  }
}

TEST_CASE("with authentication no page of another site can read by jsonp") {
  GuardedEdge edge;
  for (const char* target :
       {"/api/suggest?type=metrics&jsonp=f", "/api/query?start=1&m=sum:m&jsonp=f",
        "/api/search/lookup?m=m&jsonp=f", "/api/version?jsonp=f", "/api/v0/config?jsonp=f",
        "/api/suggest?type=metrics&jsonp="}) {
    CAPTURE(target);
    CHECK(edge.Ask("GET", target, {kBrowser, kBasic}).status == 403);
  }
  CHECK(edge.Ask("GET", "/api/suggest?type=metrics", {kBrowser, kBasic}).status == 200);
}

TEST_CASE("a page of another site can read by jsonp only if its site is listed") {
  GuardedEdge edge;
  edge.services.access = nullptr;
  const auto ask = [&edge](Fields fields) {
    return edge.Ask("GET", "/api/suggest?type=metrics&jsonp=my.cb$1", std::move(fields));
  };
  CHECK(ask({kBrowser}).body == "my.cb$1([])");
  CHECK(ask({kBrowser}).content_type == "application/json; charset=UTF-8");
  for (const Fields::value_type& field :
       {kEvil, Fields::value_type("sec-fetch-site", "cross-site"),
        Fields::value_type("referer", "http://evil.example.com/")}) {
    CHECK(ask({field}).status == 403);
  }
  // An empty callback does not make a script: the response has no callback.
  CHECK(edge.Ask("GET", "/api/query?start=1&m=sum:m&jsonp=", {kEvil}).status != 403);
  // Browsers run a response as a script only if its type is that of a script, because nosniff is
  // sent.
  const BufferResponse own = ask({{"sec-fetch-site", "same-origin"}});
  CHECK(own.body == "my.cb$1([])");
  CHECK(own.content_type == "text/javascript; charset=UTF-8");
  edge.options.cors_domains = {"http://good.example.com"};
  CHECK(ask({{"sec-fetch-site", "cross-site"}, {"referer", "http://good.example.com/"}}).status ==
        200);
  CHECK(ask({{"sec-fetch-site", "cross-site"}}).status == 403);
  edge.options.cors_domains = {"*"};
  CHECK(ask({{"sec-fetch-site", "cross-site"}}).status == 200);
}

TEST_CASE("only a plain name is accepted and returned as jsonp callback") {
  GuardedEdge edge;
  edge.services.access = nullptr;
  for (const char* bad : {"alert(1)//", "%3Cscript%3E", "a%20b", "a-b", "a%0d%0ab", "%C3%A9",
                          "a[0]", "a;b=1", "%00"}) {
    for (const char* path :
         {"/api/suggest?type=metrics&jsonp=", "/api/v0/config/x.html?jsonp=", "/api/nothing?jsonp=",
          "/api/query?start=x&m=sum:m&jsonp=", "/api/v1/query?query=1&jsonp="}) {
      const std::string target = path + std::string(bad);
      CAPTURE(target);
      const BufferResponse reply = edge.Ask("GET", target, {});
      // After a ';' the next parameter begins.
      const bool cut = std::string_view(bad).find(';') != std::string_view::npos;
      if (!cut) CHECK(reply.status == 400);
      CHECK(reply.body.find("script>") == std::string::npos);
      CHECK(reply.body.find("alert") == std::string::npos);
    }
  }
  const auto status = [&edge](size_t bytes) {
    return edge.Ask("GET", "/api/suggest?type=metrics&jsonp=" + std::string(bytes, 'f'), {}).status;
  };
  CHECK(status(128) == 200);
  CHECK(status(129) == 400);
}

TEST_CASE("each telnet command needs its role") {
  for (const char* command : {"put", "rollup", "histogram"})
    CHECK(RoleOfCommand(command) == Role::kWrite);
  CHECK(RoleOfCommand("stats") == Role::kRead);
  for (const char* command : {"dropcaches", "diediedie"})
    CHECK(RoleOfCommand(command) == Role::kAdmin);
  for (const char* command : {"version", "help", "exit", "nosuch"})
    CHECK(RoleOfCommand(command) == Role::kUser);
}

}  // namespace
}  // namespace hg::http
