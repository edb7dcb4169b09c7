#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "http/api/handlers.h"
#include "http/routes/router.h"
#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

struct Counted : ApiFixture {
  explicit Counted(query::Options query_options = UtcQueries())
      : ApiFixture(std::move(query_options)) {
    AddSeries("sys.cpu", {{"dc", "lga"}, {"host", "a"}});
    AddSeries("sys.cpu", {{"dc", "lga"}, {"host", "b"}});
    AddSeries("sys.cpu", {{"dc", "fra"}, {"host", "b"}, {"core", "0"}});
    AddSeries("sys.mem", {{"host", "c"}});
  }
};

TEST_CASE("the series of a metric are counted by tag, values with most series first") {
  Counted f;
  const BufferResponse reply = f.Ask("GET", "/api/search/tags?m=sys.cpu");
  CHECK(reply.status == 200);
  CHECK(
      reply.body ==
      R"({"metric":"sys.cpu","series":3,"tags":[)"
      R"({"key":"core","series":1,"values":1,"largest":[{"value":"0","series":1}]},)"
      R"({"key":"dc","series":3,"values":2,"largest":[{"value":"lga","series":2},{"value":"fra","series":1}]},)"
      R"({"key":"host","series":3,"values":2,"largest":[{"value":"b","series":2},{"value":"a","series":1}]}]})");
}

TEST_CASE("only series with the given tags are counted") {
  Counted f;
  CHECK(f.Ask("GET", "/api/search/tags?m=sys.cpu{host=b,dc=lga}").body ==
        R"({"metric":"sys.cpu","series":1,"tags":[)"
        R"({"key":"dc","series":1,"values":1,"largest":[{"value":"lga","series":1}]},)"
        R"({"key":"host","series":1,"values":1,"largest":[{"value":"b","series":1}]}]})");
  CHECK(f.Ask("GET", "/api/search/tags?m=sys.cpu{*=fra}")
            .body.starts_with(R"({"metric":"sys.cpu","series":1,)"));
  CHECK(f.Ask("GET", "/api/search/tags?m=sys.mem{dc=lga}").body ==
        R"({"metric":"sys.mem","series":0,"tags":[]})");
}

TEST_CASE("at most the requested number of values per key is shown, but all are counted") {
  Counted f;
  CHECK(f.Ask("GET", "/api/search/tags?m=sys.cpu{host=b}&limit=1").body ==
        R"({"metric":"sys.cpu","series":2,"tags":[)"
        R"({"key":"core","series":1,"values":1,"largest":[{"value":"0","series":1}]},)"
        R"({"key":"dc","series":2,"values":2,"largest":[{"value":"lga","series":1}]},)"
        R"({"key":"host","series":2,"values":1,"largest":[{"value":"b","series":2}]}]})");
  CHECK(
      f.Ask("GET", "/api/search/tags?m=sys.mem&limit=0").body ==
      R"({"metric":"sys.mem","series":1,"tags":[{"key":"host","series":1,"values":1,"largest":[]}]})");
}

TEST_CASE("invalid requests are refused, and the error names the fault") {
  Counted f;
  const struct {
    const char* words;
    int status;
    const char* named;
  } cases[] = {
      {"", 400, "m"},
      {"?m=", 400, "m"},
      {"?m=*", 400, "names no metric"},
      {"?m={host=a}", 400, "names no metric"},
      {"?m=sys.cpu{host", 400, "sys.cpu{host"},
      {"?m=none", 404, "none"},
      {"?m=sys.cpu{host=z}", 404, "z"},
      {"?m=sys.cpu&limit=x", 400, "x"},
      {"?m=sys.cpu&limit=-1", 400, "-1"},
      {"?m=sys.cpu&limit=10001", 400, "10001"},
  };
  for (const auto& [words, status, named] : cases) {
    const BufferResponse reply = f.Ask("GET", std::string("/api/search/tags") + words);
    CAPTURE(words);
    CAPTURE(reply.body);
    CHECK(reply.status == status);
    CHECK(reply.body.find(named) != std::string::npos);
  }
}

TEST_CASE("a tag whose name was deleted is shown by its id") {
  Counted f;
  REQUIRE(f.names.Delete(UidKind::kTagv, "b").ok());
  REQUIRE(f.names.Delete(UidKind::kTagk, "core").ok());
  CHECK(
      f.Ask("GET", "/api/search/tags?m=sys.cpu").body ==
      R"({"metric":"sys.cpu","series":3,"tags":[)"
      R"({"key":"dc","series":3,"values":2,"largest":[{"value":"lga","series":2},{"value":"fra","series":1}]},)"
      R"({"key":"host","series":3,"values":2,"largest":[{"value":"000003","deleted":true,"series":2},{"value":"a","series":1}]},)"
      R"({"key":"000003","deleted":true,"series":1,"values":1,"largest":[{"value":"0","series":1}]}]})");
}

TEST_CASE("counting is listed as a query and limited to the memory of a query") {
  query::Options options = ApiFixture::UtcQueries();
  options.query_memory_bytes_max = 1000;
  Counted f(options);
  const BufferResponse refused = f.Ask("GET", "/api/search/tags?m=sys.cpu{host=b}");
  CHECK(refused.status == 413);
  CHECK(refused.body.find("memory") != std::string::npos);
  CHECK(f.queries.running().budget().taken() == 0);
  const std::string list = f.Ask("GET", "/api/stats/query").body;
  CAPTURE(list);
  CHECK(list.find(R"("start":"tags")") != std::string::npos);
  CHECK(list.find(R"("metric":"sys.cpu")") != std::string::npos);
  CHECK(list.find(R"("code":413)") != std::string::npos);
}

TEST_CASE("a long name is charged for each key that has it as a value") {
  query::Options options = ApiFixture::UtcQueries();
  options.query_memory_bytes_max = 1 << 20;
  Counted f(options);
  constexpr int kKeys = 100;
  std::vector<std::pair<std::string, std::string>> tags;
  for (int key = 0; key < kKeys; ++key)
    tags.emplace_back("k" + std::to_string(key), std::string(20'000, 'v'));
  f.AddSeries("long", tags);
  CHECK(f.Ask("GET", "/api/search/tags?m=long").status == 413);
  CHECK(f.Ask("GET", "/api/search/tags?m=long&limit=0").status == 200);
  CHECK(f.queries.running().budget().taken() == 0);
}

TEST_CASE("counting ends if its client has gone") {
  Counted f;
  Request request = MakeRequest("GET", "/api/search/tags?m=sys.cpu");
  BufferResponse reply;
  reply.cancelled = true;
  Dispatch(request, f.services, reply);
  CHECK(reply.body.find("series") == std::string::npos);
  CHECK(f.Ask("GET", "/api/stats/query").body.find(R"("sentToClient":false)") != std::string::npos);
}

TEST_CASE("a page of this server is not a page of another site, whatever domains are allowed") {
  Counted f;
  f.options.cors_domains = {"http://dash.example"};
  const auto ask = [&](const char* origin) {
    return f.Ask("POST", "/api/search/tags?m=sys.mem", "",
                 {{"host", "db1:4242"}, {"origin", origin}});
  };
  CHECK(ask("http://db1:4242").body.starts_with(R"({"metric":"sys.mem")"));
  CHECK(ask("https://DB1:4242").body.starts_with(R"({"metric":"sys.mem")"));
  CHECK(ask("http://db1:4242").Header("Access-Control-Allow-Origin") == nullptr);
  CHECK(*ask("http://dash.example").Header("Access-Control-Allow-Origin") == "http://dash.example");
  for (const char* foreign : {"http://db1:4243", "http://db1", "ftp://db1:4242", "null"}) {
    CAPTURE(foreign);
    CHECK(ask(foreign).body.find("CORS domain not allowed") != std::string::npos);
  }
}

}  // namespace
}  // namespace hg::http
