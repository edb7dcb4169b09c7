#include <doctest/doctest.h>

#include <string>

#include "http/api/distinct_first.h"
#include "http/api/series_search.h"
#include "http/request/replies.h"
#include "query/request/running_requests.h"
#include "tests/http/api/api_fixture.h"
#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"

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

// The series as lookup prints them.
const std::string kLgaA =
    R"({"tsuid":"000001000001000001000002000002","metric":"sys.cpu","tags":{"host":"a","dc":"lga"}})";
const std::string kLgaB =
    R"({"tsuid":"000001000001000001000002000003","metric":"sys.cpu","tags":{"host":"b","dc":"lga"}})";
const std::string kFra =
    R"({"tsuid":"000001000001000004000002000002000003000005","metric":"sys.cpu","tags":{"host":"a","core":"0","dc":"fra"}})";
const std::string kMem = R"({"tsuid":"000002000002000002","metric":"sys.mem","tags":{"host":"a"}})";

/// Returns the elements of the results array of a response.
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
      {"sys.cpu{=fra,host=b}", kLgaB},  // if a key is given, the value is ignored
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

TEST_CASE("lookup repeats the request in the response and counts the results") {
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

TEST_CASE("lookup returns at most as many series as its limit") {
  Lookup f;
  CHECK(Results(f.Ask("GET", "/api/search/lookup?m=sys.cpu&limit=1")) == kLgaA);
  for (const char* limit : {"0", "-1", "1000"})
    CHECK(Results(f.Ask("GET", "/api/search/lookup?m=sys.cpu&limit=" + std::string(limit))) ==
          kLgaA + "," + kLgaB + "," + kFra);
}

TEST_CASE("with lookup_distinct_first, lookup returns series with new tags first") {
  Lookup f;
  const auto ask = [&](const char* words) {
    return Results(f.Ask("GET", "/api/search/lookup?m=" + std::string(words)));
  };
  CHECK(ask("sys.cpu&limit=2") == kLgaA + "," + kLgaB);
  f.options.lookup_distinct_first = true;
  // Without given keys, series with new tag keys come first: dc and host, then core.
  CHECK(ask("sys.cpu&limit=2") == kLgaA + "," + kFra);
  // With given keys, series with new values of these keys come first.
  CHECK(ask("sys.cpu{dc=*}&limit=2") == kLgaA + "," + kFra);
  CHECK(ask("sys.cpu{host=*}&limit=2") == kLgaA + "," + kLgaB);
  CHECK(ask("{host=*}&limit=2") == kLgaA + "," + kLgaB);
  CHECK(ask("sys.cpu{dc=*,host=a}&limit=2") == kLgaA + "," + kFra);
  // The rest of the limit is filled with other series. Without a limit all series are returned as
  // usual.
  CHECK(ask("sys.cpu{dc=*}&limit=3") == kLgaA + "," + kFra + "," + kLgaB);
  CHECK(ask("sys.cpu{dc=*}&limit=1") == kLgaA);
  CHECK(ask("sys.cpu&limit=0") == kLgaA + "," + kLgaB + "," + kFra);
}

TEST_CASE("lookup accepts a JSON body") {
  Lookup f;
  const auto ask = [&](const char* body) {
    return Results(f.Ask("POST", "/api/search/lookup", body));
  };
  CHECK(ask(R"({"metric":"sys.cpu","tags":[{"key":"host","value":"b"}]})") == kLgaB);
  CHECK(ask(R"({"tags":[{"key":null,"value":"fra"}]})") == kFra);
  CHECK(ask(R"({"metric":"sys.cpu","tags":[{"key":"core"}]})") == kFra);
  CHECK(ask("{}") == kLgaA + "," + kLgaB + "," + kFra + "," + kMem);
  CHECK(ask(R"("sys.mem")") == kMem);  // a single text is the metric
}

TEST_CASE("a null metric matches any metric, and a null limit is no limit") {
  Lookup f;
  CHECK(f.Ask("POST", "/api/search/lookup", R"({"metric":null})").status == 400);
  CHECK(f.Ask("POST", "/api/search/lookup", R"({"metric":null,"tags":[]})").status == 400);
  CHECK(f.Ask("POST", "/api/search/lookup", R"({"limit":null})").body.find(R"("limit":0)") !=
        std::string::npos);
}

TEST_CASE("an empty tag name is an error") {
  Lookup f;
  for (const char* tag : {R"({"key":"*","value":""})", R"({"key":"","value":"a"})",
                          R"({"key":"host","value":"nope"},{"key":"host","value":""})"})
    CHECK(f.Ask("POST", "/api/search/lookup", R"({"tags":[)" + std::string(tag) + "]}").status ==
          500);
}

TEST_CASE("the errors of lookup contain the unknown name or the invalid input") {
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

TEST_CASE("A search for series ends when its request is ended") {
  Lookup f;
  FakeWatch watch, hasty, hastier;
  size_t visited = 0;
  const auto visit = [&](ByteView) -> Result<bool> { return ++visited > 0; };
  CHECK(VisitSeries({}, f.points, visit, watch).ok());
  const size_t all = visited;
  visited = 0;
  hasty.steps_max = watch.steps - 1;
  CHECK(VisitSeries({}, f.points, visit, hasty).code() == StatusCode::kDeadlineExceeded);
  CHECK(visited == all - 1);
  hastier.steps_max = 1;  // ends the search while it reads the store
  CHECK(VisitSeries({}, f.points, visit, hastier).code() == StatusCode::kDeadlineExceeded);
  CHECK(visited == all - 1);
  const auto fail = [](ByteView) -> Result<bool> { return Status::LimitExceeded("full"); };
  CHECK(VisitSeries({}, f.points, fail, RequestContext::Unlimited()).code() ==
        StatusCode::kLimitExceeded);
}

TEST_CASE("The series that a lookup collects are charged to the request") {
  FakeWatch watch;
  watch.bytes_max = 200'000;
  MemoryTally memory(&watch);
  const KeyLayout layout;
  const SeriesMatcher matcher;
  DistinctFirst choice(layout, matcher, INT32_MAX, &memory);
  Status status;
  for (int i = 0; i < 10'000 && status.ok(); ++i) {
    Bytes tsuid("\0\0\1\0\0\1", 6);
    AppendBig(&tsuid, static_cast<uint64_t>(i), 3);
    status = choice.Offer(tsuid).status();
  }
  CHECK(status.code() == StatusCode::kLimitExceeded);
}

TEST_CASE("A failure after the first bytes of a response cuts the connection") {
  const Request request = MakeRequest("GET", "/api/search/lookup");
  const auto write = [](JsonWriter* json) {
    json->BeginObject();
    return Status::DeadlineExceeded("late");
  };
  BufferResponse early;
  StreamJson(early, request, write);
  CHECK_FALSE(early.cut);
  CHECK(early.status == 413);
  BufferResponse late;
  late.started = true;
  StreamJson(late, request, write);
  CHECK(late.cut);
  CHECK(late.body.empty());
}

TEST_CASE("a large response gives up its place among the large queries before it is sent") {
  ManualClock clock{1'500'000'000'000};
  query::Options options;
  options.large_bytes = 1;
  query::RunningRequests requests(options, clock);
  const auto running = requests.Begin("GET /api/tree/branch", {});
  REQUIRE(running->Charge(2).ok());
  Request request = MakeRequest("GET", "/api/tree/branch");
  request.running = running.get();
  const auto places = [&] { return requests.large_queries().working(); };
  const auto expect = [&](size_t expected) {
    return [&places, expected](JsonWriter* json) {
      CHECK(places() == expected);
      json->BeginObject();
      json->EndObject();
      return Status();
    };
  };
  BufferResponse out;
  StreamJsonWhileReading(out, request, expect(1));
  StreamJson(out, request, expect(0));
}

TEST_CASE("searches that need a plug-in report it, and unknown types are refused") {
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
