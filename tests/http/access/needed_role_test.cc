#include "http/access/needed_role.h"

#include <doctest/doctest.h>

#include <set>

#include "http/access/access.h"
#include "http/endpoints.h"
#include "http/router.h"
#include "tests/http/edge_fixture.h"

namespace hg::http {
namespace {

struct Case {
  const char* verb;
  const char* target;
  Role role;
};

/// What each endpoint is for. One that is not here fails the test below.
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
    {"GET", "/api/v1/alerts", Role::kRead},
    {"GET", "/api/v1/status/buildinfo", Role::kRead},
    {"POST", "/write?db=x", Role::kWrite},
    {"POST", "/api/v2/write?bucket=x", Role::kWrite},
    {"POST", "/query?q=CREATE%20DATABASE%20x", Role::kWrite},
    {"GET", "/ping", Role::kUser},
    {"GET", "/health", Role::kUser},
    {"POST", "/v1/metrics", Role::kWrite},
};

TEST_CASE("each endpoint and verb has its role, and none is forgotten") {
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

TEST_CASE("a stranger is asked who he is, a user without the role is refused") {
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

TEST_CASE("a body that asks for deletion is an administrator's") {
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

/// An edge where users say who they are, and what it answers an administrator's browser or script.
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

TEST_CASE("a page of another site changes nothing where authentication is on") {
  GuardedEdge edge;
  edge.services.access = nullptr;
  CHECK(edge.PutStatus({kEvil}) == 204);  // as OpenTSDB
  edge.services.access = &edge.access;
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

TEST_CASE("where all origins are let in they change nothing by what a browser says by itself") {
  GuardedEdge edge;
  edge.options.cors_domains = {"*"};
  CHECK(edge.PutStatus({kEvil, kBearer}) == 204);
  CHECK(edge.PutStatus({kEvil, kBasic}) == 403);
  CHECK(edge.PutStatus({kEvil}) == 403);  // a certificate
  CHECK(edge.Ask("GET", "/api/suggest?type=metrics", {kEvil, kBasic}).status == 200);
}

TEST_CASE("a page of another site deletes nothing by a query's body") {
  GuardedEdge edge;
  REQUIRE(edge.PutStatus({}) == 204);
  const auto status = [&edge](Fields fields, const std::string& deletes) {
    const std::string body = R"({"start":1699999999,"delete":)" + deletes +
                             R"(,"queries":[{"metric":"m","aggregator":"sum"}]})";
    return edge.Ask("POST", "/api/query", std::move(fields), body).status;
  };
  CHECK(status({kEvil, kBasic}, "true") == 403);
  CHECK(status({{"sec-fetch-site", "cross-site"}, kBasic}, "true") == 403);
  CHECK(status({kEvil, kBasic}, "false") == 200);
  CHECK(edge.Cells().size() == 1);
  CHECK(status({kBasic}, "true") == 200);
  CHECK(edge.Cells().empty());
}

TEST_CASE("browsers change by GET only what their own page, or they themselves, ask for") {
  GuardedEdge edge;
  edge.services.recent_log = [] { return std::vector<std::string>(); };
  edge.services.set_log_level = [](const std::string&) { return true; };
  for (const char* change : {"/api/dropcaches", "/api/uid/assign?metric=m", "/logs?level=INFO",
                             "/api/query?start=1&m=sum:none&method_override=delete"}) {
    CAPTURE(change);
    // Over plain HTTP a browser does not tell whose image this is.
    CHECK(edge.Ask("GET", change, {kBrowser, kBasic}).status == 403);
    CHECK(edge.Ask("GET", change, {kBrowser}).status == 403);
    CHECK(edge.Ask("GET", change, {kBasic, {"sec-fetch-site", "same-site"}}).status == 403);
    for (const Fields& fields :
         {Fields{kBasic, kBrowser, {"sec-fetch-site", "none"}},
          Fields{kBasic, kBrowser, {"sec-fetch-site", "same-origin"}}, Fields{kBearer, kBrowser},
          Fields{kBasic}, Fields{kBasic, {"user-agent", "curl/7.88.1"}}}) {
      CHECK(edge.Ask("GET", change, fields).status != 403);
    }
  }
  CHECK(edge.Ask("HEAD", "/diediedie", {kBrowser, kBasic}).status == 403);
  // What shows, but to administrators or writers alone.
  for (const char* look :
       {"/logs", "/api/admin/tables", "/query?q=SHOW%20DATABASES", "/api/stats"}) {
    CAPTURE(look);
    edge.options.admin_remote = true;
    CHECK(edge.Ask("GET", look, {kBrowser, kBasic}).status != 403);
  }
}

TEST_CASE("no page of another site reads by jsonp where authentication is on") {
  GuardedEdge edge;
  for (const char* target :
       {"/api/suggest?type=metrics&jsonp=f", "/api/query?start=1&m=sum:m&jsonp=f",
        "/api/search/lookup?m=m&jsonp=f", "/api/version?jsonp=f", "/api/v0/config?jsonp=f",
        "/api/suggest?type=metrics&jsonp="}) {
    CAPTURE(target);
    CHECK(edge.Ask("GET", target, {kBrowser, kBasic}).status == 403);
  }
  const BufferResponse good = edge.Ask("GET", "/api/suggest?type=metrics", {kBrowser, kBasic});
  CHECK(good.status == 200);
  REQUIRE(good.Header("X-Content-Type-Options") != nullptr);
  CHECK(*good.Header("X-Content-Type-Options") == "nosniff");
  edge.services.access = nullptr;
  const BufferResponse open = edge.Ask("GET", "/api/suggest?type=metrics&jsonp=f", {kBrowser});
  CHECK(open.body == "f([])");
  CHECK(open.Header("X-Content-Type-Options") == nullptr);
}

TEST_CASE("line commands have their roles") {
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
