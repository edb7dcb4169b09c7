#include <doctest/doctest.h>

#include <string>

#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

struct Lookup : ApiFixture {
  Lookup() {
    AddSeries("sys.cpu", {{"dc", "lga"}, {"host", "a"}});
    AddSeries("sys.cpu", {{"dc", "lga"}, {"host", "b"}});
    AddSeries("sys.cpu", {{"dc", "fra"}, {"host", "a"}, {"core", "0"}});
    AddSeries("sys.mem", {{"host", "a"}});
  }
};

// What the series show as.
const std::string kLgaA =
    R"({"tsuid":"000001000001000001000002000002","metric":"sys.cpu","tags":{"host":"a","dc":"lga"}})";
const std::string kLgaB =
    R"({"tsuid":"000001000001000001000002000003","metric":"sys.cpu","tags":{"host":"b","dc":"lga"}})";
const std::string kFra =
    R"({"tsuid":"000001000001000004000002000002000003000005","metric":"sys.cpu","tags":{"host":"a","core":"0","dc":"fra"}})";
const std::string kMem = R"({"tsuid":"000002000002000002","metric":"sys.mem","tags":{"host":"a"}})";

/// The results of a reply, without their array.
std::string Results(const BufferResponse& reply) {
  const size_t from = reply.body.find("\"results\":["), to = reply.body.find("],\"startIndex\"");
  REQUIRE_MESSAGE(from != std::string::npos, reply.body);
  REQUIRE(to != std::string::npos);
  return reply.body.substr(from + 11, to - from - 11);
}

TEST_CASE("lookup finds series by metric and tags") {
  Lookup f;
  const std::pair<const char*, std::string> cases[] = {
      {"sys.cpu", kLgaA + "," + kLgaB + "," + kFra},
      {"sys.cpu%7B%7D", kLgaA + "," + kLgaB + "," + kFra},
      {"sys.cpu%7Bhost=a%7D", kLgaA + "," + kFra},
      {"sys.cpu{host=a,dc=lga}", kLgaA},
      {"sys.cpu{host=a,host=b}", kLgaA + "," + kLgaB + "," + kFra},
      {"sys.cpu{host=a,host=*}", kLgaA + "," + kLgaB + "," + kFra},
      {"sys.cpu{core=}", kFra},
      {"sys.cpu{*=lga}", kLgaA + "," + kLgaB},
      {"sys.cpu{=lga,=fra}", kLgaA + "," + kLgaB + "," + kFra},
      {"sys.cpu{=fra,host=b}", kLgaB},  // beside a key the value is not heeded
      {"{host=a}", kLgaA + "," + kFra + "," + kMem},
      {"*{*=a}", kLgaA + "," + kFra + "," + kMem},
      {"*", kLgaA + "," + kLgaB + "," + kFra + "," + kMem},
      {"sys.mem{dc=lga}", ""},
  };
  for (const auto& [expression, expected] : cases) {
    CAPTURE(expression);
    CHECK(Results(f.Ask("GET", "/api/search/lookup?m=" + std::string(expression))) == expected);
  }
}

TEST_CASE("lookup echoes what was asked and counts what it returns") {
  Lookup f;
  CHECK(
      f.Ask("GET", "/api/search/lookup?m=sys.mem{host=,=a}").body ==
      R"({"type":"LOOKUP","metric":"sys.mem","tags":[{"key":"host","value":null},{"key":null,"value":"a"}],)"
      R"("limit":25,"time":0.0,"results":[)" +
          kMem + R"(],"startIndex":0,"totalResults":1})");
  CHECK(
      f.Ask("GET", "/api/search/lookup?m={host=b}&jsonp=f").body ==
      R"(f({"type":"LOOKUP","tags":[{"key":"host","value":"b"}],"limit":25,"time":0.0,"results":[)" +
          kLgaB + R"(],"startIndex":0,"totalResults":1}))");
  CHECK(f.Ask("POST", "/api/search/lookup", R"({"query":"x","startIndex":2,"limit":"1"})").body ==
        R"({"type":"LOOKUP","query":"x","metric":"*","limit":1,"time":0.0,"results":[)" + kLgaA +
            R"(],"startIndex":2,"totalResults":1})");
}

TEST_CASE("lookup's limit") {
  Lookup f;
  CHECK(Results(f.Ask("GET", "/api/search/lookup?m=sys.cpu&limit=1")) == kLgaA);
  for (const char* limit : {"0", "-1", "1000"})
    CHECK(Results(f.Ask("GET", "/api/search/lookup?m=sys.cpu&limit=" + std::string(limit))) ==
          kLgaA + "," + kLgaB + "," + kFra);
}

TEST_CASE("lookup shows series with new tags first where that is asked for") {
  Lookup f;
  const auto ask = [&](const char* words) {
    return Results(f.Ask("GET", "/api/search/lookup?m=" + std::string(words)));
  };
  CHECK(ask("sys.cpu&limit=2") == kLgaA + "," + kLgaB);
  f.options.lookup_distinct_first = true;
  // Keys, where none is named: dc and host, then core.
  CHECK(ask("sys.cpu&limit=2") == kLgaA + "," + kFra);
  // Values of the keys that are named, and of no other.
  CHECK(ask("sys.cpu{dc=*}&limit=2") == kLgaA + "," + kFra);
  CHECK(ask("sys.cpu{host=*}&limit=2") == kLgaA + "," + kLgaB);
  CHECK(ask("{host=*}&limit=2") == kLgaA + "," + kLgaB);
  CHECK(ask("sys.cpu{dc=*,host=a}&limit=2") == kLgaA + "," + kFra);
  // What is left of the limit goes to others; one of none shows all of them as ever.
  CHECK(ask("sys.cpu{dc=*}&limit=3") == kLgaA + "," + kFra + "," + kLgaB);
  CHECK(ask("sys.cpu{dc=*}&limit=1") == kLgaA);
  CHECK(ask("sys.cpu&limit=0") == kLgaA + "," + kLgaB + "," + kFra);
}

TEST_CASE("lookup reads a body") {
  Lookup f;
  const auto ask = [&](const char* body) {
    return Results(f.Ask("POST", "/api/search/lookup", body));
  };
  CHECK(ask(R"({"metric":"sys.cpu","tags":[{"key":"host","value":"b"}]})") == kLgaB);
  CHECK(ask(R"({"tags":[{"key":null,"value":"fra"}]})") == kFra);
  CHECK(ask(R"({"metric":"sys.cpu","tags":[{"key":"core"}]})") == kFra);
  CHECK(ask("{}") == kLgaA + "," + kLgaB + "," + kFra + "," + kMem);
  CHECK(ask(R"("sys.mem")") == kMem);  // a text alone is the metric
}

TEST_CASE("a metric that is null is none, a limit that is null no limit") {
  Lookup f;
  CHECK(f.Ask("POST", "/api/search/lookup", R"({"metric":null})").status == 400);
  CHECK(f.Ask("POST", "/api/search/lookup", R"({"metric":null,"tags":[]})").status == 400);
  CHECK(f.Ask("POST", "/api/search/lookup", R"({"limit":null})").body.find(R"("limit":0)") !=
        std::string::npos);
}

TEST_CASE("an empty name of a tag is no name") {
  Lookup f;
  for (const char* tag : {R"({"key":"*","value":""})", R"({"key":"","value":"a"})",
                          R"({"key":"host","value":"nope"},{"key":"host","value":""})"})
    CHECK(f.Ask("POST", "/api/search/lookup", R"({"tags":[)" + std::string(tag) + "]}").status ==
          500);
}

TEST_CASE("lookup says what it does not know or cannot read") {
  Lookup f;
  const auto error = [&](const char* query) {
    const BufferResponse reply = f.Ask("GET", "/api/search/lookup?" + std::string(query));
    return std::to_string(reply.status) + " " + reply.body;
  };
  const auto unknown = [](const std::string& details) {
    return R"(404 {"error":{"code":404,"message":"Unable to resolve one or more UIDs","details":")" +
           details + "\"}}";
  };
  CHECK(error("m=nope") == unknown("No such name for 'metrics': 'nope'"));
  CHECK(error("m=sys.cpu{==}") == unknown("No such name for 'tagv': '='"));
  CHECK(error("m=sys.cpu{nope=*}") == unknown("No such name for 'tagk': 'nope'"));
  CHECK(error("m=sys.cpu{host=a|b}") == unknown("No such name for 'tagv': 'a|b'"));
  CHECK(error("m=") ==
        R"(400 {"error":{"code":400,"message":"Missing parameter <code>m</code>"}})");
  CHECK(error("m=sys.cpu&limit=").find("400 ") == 0);
  CHECK(error("m=sys.cpu&limit=x") ==
        R"(400 {"error":{"code":400,"message":"Unable to convert 'limit' to a valid number"}})");
  CHECK(
      error("m={}") ==
      R"(400 {"error":{"code":400,"message":"Missing metric and tags. Please supply at least one value."}})");
  CHECK(
      error("m=sys.cpu{host}") ==
      R"(400 {"error":{"code":400,"message":"Unable to parse query","details":"When parsing tag 'host': invalid tag: host"}})");
  CHECK(
      error("m=sys.cpu{host=a") ==
      R"(400 {"error":{"code":400,"message":"Unable to parse query","details":"Missing '}' at the end of: sys.cpu{host=a"}})");
  CHECK(f.Ask("GET", "/api/search/lookup?m={*=*}").status == 500);
  CHECK(f.Ask("GET", "/api/search/lookup?m={*=*,nope=*}").status == 404);
  for (const char* body :
       {"x", "[]", "1", R"({"limit":"many"})", R"({"tags":{}})", R"({"tags":["a"]})",
        R"({"type":"metric"})", R"({"tags":[{"key":"host","x":1}]})"})
    CHECK_MESSAGE(f.Ask("POST", "/api/search/lookup", body).status == 500, body);
}

TEST_CASE("searches that need a plug-in say so, others are unknown") {
  ApiFixture f;
  const auto details = [&](const char* method, const char* target) {
    const BufferResponse reply = f.Ask(method, target);
    CHECK(reply.status == 400);
    return reply.body;
  };
  const std::string disabled =
      R"({"error":{"code":400,"message":"Searching is not enabled","details":"Searching has not been enabled on this TSD"}})";
  for (const char* target : {"/api/search/tsmeta?query=*", "/api/search/TSUIDS?query=*",
                             "/api/search/annotation?query=*"})
    CHECK(details("GET", target) == disabled);
  CHECK(details("POST", "/api/search/uidmeta") == disabled);
  CHECK(f.Ask("POST", "/api/search/uidmeta", "{}").status == 400);
  CHECK(f.Ask("POST", "/api/search/uidmeta", "[]").status == 500);
  CHECK(details("GET", "/api/search/tsmeta") ==
        R"({"error":{"code":400,"message":"Missing parameter <code>query</code>"}})");
  CHECK(details("GET", "/api/search/tsmeta?query=a&limit=x") ==
        R"({"error":{"code":400,"message":"Unable to convert 'limit' to a valid number"}})");
  CHECK(
      details("GET", "/api/search/foo") ==
      R"({"error":{"code":400,"message":"Invalid search query type supplied","details":"Unknown type: foo"}})");
  CHECK(
      details("GET", "/api/search") ==
      R"({"error":{"code":400,"message":"Invalid search query type supplied","details":"Type provided was null or empty"}})");
  CHECK(details("PUT", "/api/search/lookup?m=a") ==
        R"({"error":{"code":400,"message":"Unsupported method: PUT"}})");
  CHECK(f.Ask("GET", "/api/search/lookup?m=a&method_override=").status == 405);
  CHECK(f.Ask("GET", "/api/search/lookup?m=a&method_override=patch").status == 405);
}

}  // namespace
}  // namespace hg::http
