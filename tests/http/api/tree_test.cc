// /api/tree and below.
#include <doctest/doctest.h>

#include <string>

#include "tests/http/api/api_fixture.h"
#include "uid/tree_store.h"

namespace hg::http {
namespace {

struct TreeApi : ApiFixture {
  TreeApi() { REQUIRE(store.CreateTable({"tsdb-tree", {{"t"}}, false}).ok()); }

  int StatusOf(std::string_view method, const std::string& target, std::string_view body = {}) {
    return Ask(method, "/api/tree" + target, body).status;
  }
};

TEST_CASE("rules are written up to the first invalid one") {
  TreeApi f;
  REQUIRE(f.StatusOf("POST", "", R"({"name":"Sites"})") == 200);
  const std::string place = R"({"treeId":1,"level":0,"order":0)";
  CHECK(f.StatusOf("POST", "/rule", place + "}") == 304);  // the request has no fields
  // An invalid pattern in the query string is reported before the tree is looked up.
  CHECK(f.StatusOf("GET", "/rule?treeid=9&level=0&order=0&regex=(&method_override=post") == 400);
  CHECK(f.StatusOf("POST", "/rules", "[" + place + R"(,"type":"METRIC"}])") == 204);
  CHECK(f.StatusOf("POST", "/rules", "null") == 400);
  // The rule exists already.
  CHECK(f.StatusOf("POST", "/rules", "[" + place + R"(,"type":"METRIC"}])") == 500);
  CHECK(f.StatusOf("POST", "/rules", "[1]") == 500);  // the rule has no fields
  // Rules before an invalid one are stored.
  CHECK(f.StatusOf(
            "POST", "/rules",
            "[" + place + R"(,"notes":"b"},)" + R"({"treeId":1,"level":3,"type":"TAGK"}])") == 400);
  CHECK(f.Ask("GET", "/api/tree/rule?treeid=1&level=0&order=0").body.find(R"("notes":"b")") !=
        std::string::npos);
  CHECK(f.StatusOf("POST", "/rules", "[{") == 500);
  CHECK(f.StatusOf("POST", "/rule", "{") == 500);
  CHECK(f.StatusOf("POST", "/rule", place + R"(,"type":{}})") == 500);
  // A single whole number is the id of the tree.
  CHECK(f.StatusOf("POST", "", "1") == 304);
  CHECK(f.StatusOf("POST", "/rule", "1") == 304);
  CHECK(f.StatusOf("POST", "/rule", "1.5") == 500);
  for (const char* body : {"{", "[]", "1", R"({"treeId":"x"})", R"({"treeId":1.5})"}) {
    CHECK_MESSAGE(f.StatusOf("POST", "/collisions", body) == 500, body);
    CHECK_MESSAGE(f.StatusOf("POST", "/test", body) == 500, body);
  }
  CHECK(f.StatusOf("POST", "/collisions", "{}") == 400);
  CHECK(f.StatusOf("POST", "", R"({"treeId":1.5})") == 400);
  CHECK(f.StatusOf("POST", "", R"({"treeId":1,"tsuids":[]})") == 400);
  CHECK(f.StatusOf("GET", "/rules?treeid=1") == 400);
  // The rules before an invalid one replace all rules.
  CHECK(f.StatusOf("PUT", "/rules",
                   R"([{"treeId":1,"level":1,"order":0,"type":"METRIC"},)"
                   R"({"treeId":1,"level":3,"type":"TAGK"}])") == 400);
  CHECK(f.StatusOf("GET", "/rule?treeid=1&level=0&order=0") == 404);
  CHECK(f.StatusOf("GET", "/rule?treeid=1&level=1&order=0") == 200);
  // The second rule is equal to the first one.
  CHECK(f.StatusOf("PUT", "/rules",
                   "[" + place + R"(,"type":"METRIC"},)" + place + R"(,"type":"METRIC"}])") == 500);
  CHECK(f.StatusOf("GET", "/rule?treeid=1&level=1&order=0") == 404);
  CHECK(f.StatusOf("GET", "/rule?treeid=1&level=0&order=0") == 200);
  CHECK(f.StatusOf("DELETE", "/rules?treeid=1") == 204);
  // Nothing is left to delete.
  CHECK(f.StatusOf("DELETE", "/rules?treeid=1") == 400);
  CHECK(f.StatusOf("PUT", "/rules", "[" + place + R"(,"type":"METRIC"}])") == 400);
}

TEST_CASE("a tree request is parsed, and its tree looked up, before its method is checked") {
  TreeApi f;
  REQUIRE(f.StatusOf("POST", "", R"({"name":"Sites"})") == 200);
  CHECK(f.StatusOf("GET", "?jsonp=") == 400);
  CHECK(f.StatusOf("GET", "/rule?treeid=1&order=0&method_override=x") == 400);
  CHECK(f.StatusOf("GET", "/rule?treeid=9&level=0&order=0&method_override=x") == 404);
  CHECK(f.StatusOf("GET", "/rule?treeid=1&level=0&order=0&method_override=x") == 405);
  CHECK(f.StatusOf("GET", "?treeid=x&method_override=x") == 400);
  CHECK(f.StatusOf("GET", "", R"({"treeId":1})") == 200);
  CHECK(f.StatusOf("DELETE", "/collisions?treeid=9") == 404);
  CHECK(f.StatusOf("DELETE", "/collisions?treeid=1") == 400);
  CHECK(f.StatusOf("GET", "/nothing?method_override=x") == 404);
}

TEST_CASE("a branch shows its leaves, and a test of a tree shows its messages") {
  TreeApi f;
  f.AddSeries("sys.cpu", {{"host", "a"}});
  REQUIRE(f.StatusOf("POST", "", R"({"name":"Sites"})") == 200);
  REQUIRE(f.StatusOf("POST", "/rules",
                     R"([{"treeId":1,"level":0,"order":0,"type":"TAGK","field":"host"},)"
                     R"({"treeId":1,"level":1,"order":0,"type":"METRIC"}])") == 204);
  const Bytes tsuid("\0\0\1\0\0\1\0\0\1", 9);
  CHECK(f.Ask("GET", "/api/tree/test?treeid=1&tsuids=000001000001000001").body ==
        R"({"000001000001000001":{"meta":null,"messages":["Unable to locate TSUID meta data"],)"
        R"("branch":null}})");
  uid::TsMeta meta;
  meta.tsuid = tsuid;
  RequestContext& unlimited = RequestContext::Unlimited();
  REQUIRE(f.metadata.CreateSeries(meta, unlimited).ok());
  uid::TreeStore trees(f.store, "tsdb-tree");
  REQUIRE(trees
              .Sort(*trees.Find(1, unlimited), *f.metadata.FindSeries(tsuid, unlimited), false,
                    unlimited)
              .ok());
  CHECK(f.Ask("GET", "/api/tree/branch?branch=000100000061").body ==
        R"({"leaves":[{"metric":"sys.cpu","tags":{"host":"a"},"tsuid":"000001000001000001",)"
        R"("displayName":"sys.cpu"}],"branches":null,"path":{"0":"ROOT","1":"a"},)"
        R"("displayName":"a","treeId":1,"branchId":"000100000061","depth":1})");
  CHECK(f.Ask("GET", "/api/tree/test?treeid=1&tsuids=000001000001000001")
            .body.find("Depth [3] Adding leaf [name: sys.cpu tsuid: 000001000001000001] to parent "
                       "branch [Name: [a]]") != std::string::npos);
  REQUIRE(f.StatusOf("POST", "/rules",
                     R"([{"treeId":1,"level":1,"order":0,"type":"METRIC","separator":"."},)"
                     R"({"treeId":1,"level":1,"order":1,"type":"METRIC","separator":"."}])") ==
          204);
  CHECK(f.StatusOf("GET", "/test?treeid=1&tsuids=000001000001000001") == 500);
  CHECK(f.StatusOf("GET", "/branch?branch=0001FFFFFFFF") == 404);
  CHECK(f.StatusOf("GET", "/branch?branch=00") == 400);
  CHECK(f.StatusOf("POST", "/branch?treeid=1") == 400);
  CHECK(f.Ask("GET", "/api/tree/collisions?treeid=1").body == "{}");
  CHECK(f.StatusOf("GET", "/notmatched?treeid=9") == 404);
  CHECK(f.StatusOf("GET", "/nothing") == 404);
}

TEST_CASE("A test of a series that a tree splits into very many pieces is refused") {
  TreeApi f;
  std::string metric;
  for (int i = 0; i < 1000; ++i) metric += i % 2 == 0 ? "a." : "b.";
  f.AddSeries(metric + "cpu", {{"host", "a"}});
  REQUIRE(f.StatusOf("POST", "", R"({"name":"Sites"})") == 200);
  REQUIRE(f.StatusOf("POST", "/rule",
                     R"({"treeId":1,"level":0,"order":0,"type":"METRIC","separator":"\\."})") ==
          200);
  uid::TsMeta meta;
  meta.tsuid = Bytes("\0\0\1\0\0\1\0\0\1", 9);
  REQUIRE(f.metadata.CreateSeries(meta, RequestContext::Unlimited()).ok());
  const BufferResponse reply = f.Ask("GET", "/api/tree/test?treeid=1&tsuids=000001000001000001");
  CHECK(reply.status == 413);
  CHECK(reply.body.find("deeper than 256 levels") != std::string::npos);
}

}  // namespace
}  // namespace hg::http
