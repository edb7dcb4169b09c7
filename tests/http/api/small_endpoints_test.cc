// suggest, aggregators, version, config, dropcaches, stats, pages.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>

#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

struct Case {
  const char* method;
  const char* target;
  const char* body;
  int status;
  const char* reply;  // nullptr = any
};

void Check(ApiFixture& f, std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    CAPTURE(c.method);
    CAPTURE(c.target);
    CAPTURE(c.body);
    const BufferResponse reply = f.Ask(c.method, c.target, c.body);
    CHECK(reply.status == c.status);
    if (c.reply != nullptr) CHECK(reply.body == c.reply);
  }
}

void AddMetrics(ApiFixture& f) {
  for (const char* name : {"sys.cpu.user", "sys.cpu.system", "Sys.upper", "a", "été"})
    REQUIRE(f.names.FindOrAssign(UidKind::kMetric, name).ok());
  REQUIRE(f.names.FindOrAssign(UidKind::kTagk, "host").ok());
}

TEST_CASE("TRACE, CONNECT and unknown methods get 405 at every endpoint") {
  ApiFixture f;
  for (const char* method : {"TRACE", "CONNECT", "FOO"}) {
    for (const char* target : {"/", "/q?start=1h-ago&m=sum:m", "/s/main.js", "/favicon.ico",
                               "/healthz", "/readyz", "/metrics", "/ping", "/health", "/version",
                               "/api/version", "/api/query", "/federate", "/write"}) {
      CAPTURE(method);
      CAPTURE(target);
      CHECK(f.Ask(method, target, "").status == 405);
    }
    CHECK(f.Ask(method, "/nope", "").status == 404);
  }
}

TEST_CASE("suggest returns names of one kind in byte order") {
  ApiFixture f;
  AddMetrics(f);
  Check(f, {{"GET", "/api/suggest?type=metrics", "", 200,
             R"(["Sys.upper","a","sys.cpu.system","sys.cpu.user"])"},
            {"GET", "/api/suggest?type=metrics&q=sys", "", 200,
             R"(["sys.cpu.system","sys.cpu.user"])"}});
}

TEST_CASE("a document that is nested too deeply is a client error at every endpoint") {
  ApiFixture f;
  const std::string deep(1000, '[');
  for (const char* target :
       {"/api/put", "/api/query", "/api/query/exp", "/api/query/last", "/api/suggest",
        "/api/annotation", "/api/annotation/bulk", "/api/search/lookup", "/api/search/uidmeta",
        "/api/tree", "/api/tree/rule", "/api/tree/rules", "/api/tree/test", "/api/uid/assign",
        "/api/uid/tsmeta", "/api/uid/uidmeta"}) {
    CAPTURE(target);
    const BufferResponse reply = f.Ask("POST", target, deep);
    CHECK(reply.status == 400);
    CHECK(reply.body.find("nested deeper than 128 levels") != std::string::npos);
  }
}

TEST_CASE("without authentication a client has no name and all roles") {
  ApiFixture f;
  Check(f, {{"GET", "/api/user", "", 200,
             R"({"user":"","roles":["read","write","admin"],"mode":"rw"})"},
            {"POST", "/api/user", "", 405, nullptr}});
  f.options.mode = Mode::kReadOnly;
  Check(f, {{"GET", "/api/user", "", 200,
             R"({"user":"","roles":["read","write","admin"],"mode":"ro"})"}});
}

TEST_CASE("suggest refuses invalid parameters") {
  ApiFixture f;
  Check(f, {{"GET", "/api/suggest", "", 400,
             R"({"error":{"code":400,"message":"Missing parameter <code>type</code>"}})"},
            {"GET", "/api/suggest?type=foo", "", 400,
             R"({"error":{"code":400,"message":"Invalid 'type' parameter:foo"}})"},
            {"GET", "/api/suggest?type=metrics&max=1.5", "", 400,
             R"({"error":{"code":400,"message":"Unable to parse 'max' as a number"}})"},
            {"POST", "/api/suggest", "{}", 400,
             R"({"error":{"code":400,"message":"Missing 'type' parameter"}})"},
            {"POST", "/api/suggest", "null", 500, nullptr},
            {"GET", "/api/suggest?type=tagk&jsonp=", "", 500,
             R"({"error":{"code":500,"message":"Missing callback name"}})"}});
}

TEST_CASE("the aggregators are listed in OpenTSDB's order") {
  ApiFixture f;
  const BufferResponse reply = f.Ask("GET", "/api/aggregators");
  CHECK(reply.body.starts_with(R"(["mult","p90","zimsum","mimmax","sum",)"));
  CHECK(reply.body.ends_with(R"("squareSum","ep999r3","first"])"));
  CHECK(std::count(reply.body.begin(), reply.body.end(), ',') == 34);
  CHECK(f.Ask("POST", "/aggregators").content_type == "application/json");
}

TEST_CASE("version returns JSON below /api and with ?json, and text elsewhere") {
  ApiFixture f;
  CHECK(f.Ask("GET", "/api/version").body.find(R"("version":"2.4.1")") != std::string::npos);
  const BufferResponse text = f.Ask("GET", "/version");
  CHECK(text.content_type == "text/plain");
  CHECK(text.body.starts_with("net.opentsdb.tools 2.4.1 built at revision "));
  CHECK(std::count(text.body.begin(), text.body.end(), '\n') == 2);
  CHECK(f.Ask("GET", "/api/v0/version").body == text.body);
  const BufferResponse json = f.Ask("GET", "/version?json");
  CHECK(json.content_type == "application/json");
  CHECK(json.body.starts_with("{"));
}

TEST_CASE("config shows settings by key") {
  ApiFixture f;
  f.settings = {{"tsd.mode", "rw"}, {"tsd.a.passPhrase", "********"}};
  CHECK(f.Ask("GET", "/api/config").body == R"({"tsd.a.passPhrase":"********","tsd.mode":"rw"})");
  CHECK(f.Ask("GET", "/api/config/nothing").body == f.Ask("POST", "/api/config").body);
}

TEST_CASE("config/filters names the seven filters") {
  ApiFixture f;
  const BufferResponse reply = f.Ask("GET", "/api/config/filters");
  size_t at = 0;
  for (const char* name : {"regexp", "iwildcard", "iliteral_or", "not_iliteral_or",
                           "not_literal_or", "literal_or", "wildcard"}) {
    const size_t found = reply.body.find("\"" + std::string(name) + "\":{\"examples\":", at);
    REQUIRE_MESSAGE(found != std::string::npos, name);
    at = found + 1;
  }
}

TEST_CASE("dropcaches empties the caches of names and the table of raw series keys") {
  ApiFixture f;
  AddMetrics(f);
  REQUIRE(f.names.Stats(UidKind::kMetric).size > 0);
  Check(f, {{"GET", "/api/dropcaches", "", 200, R"({"message":"Caches dropped","status":"200"})"},
            {"POST", "/api/dropcaches", "", 405, nullptr}});
  CHECK(f.names.Stats(UidKind::kMetric).size == 0);
  CHECK(f.sink.forgotten == 1);
}

TEST_CASE("statistics are lines of text or points, with the host tag after the point's own tags") {
  ApiFixture f;
  AddMetrics(f);
  f.counters.rpc_put = 7;
  f.counters.points_added = 9;
  f.services.collect_stats = [](const auto& add) { add("lsm.files", "table=tsdb", 3); };
  const std::string text = f.Ask("GET", "/stats").body;
  CHECK(text.find("tsd.rpc.received 1700010000 7 type=put host=") != std::string::npos);
  CHECK(text.find("tsd.uid.ids-used 1700010000 5 kind=metrics host=") != std::string::npos);
  CHECK(text.find("tsd.uid.ids-available 1700010000 16777210 kind=metrics host=") !=
        std::string::npos);
  CHECK(text.find("tsd.lsm.files 1700010000 3 table=tsdb host=") != std::string::npos);
  CHECK(text.find("tsd.jvm.thread.count 1700010000 ") != std::string::npos);
  const size_t added = text.find("tsd.datapoints.added 1700010000 9 type=all host=");
  REQUIRE(added != std::string::npos);
  CHECK(text.substr(added, text.find('\n', added) - added).ends_with(" class=TSDB"));

  const std::string json = f.Ask("GET", "/api/stats").body;
  CHECK(
      json.find(
          R"({"metric":"tsd.rpc.received","timestamp":1700010000,"value":"7","tags":{"type":"put","host":")") !=
      std::string::npos);
  CHECK(json.find("jvm.thread") == std::string::npos);
  CHECK(f.Ask("GET", "/api/stats/nothing").body.starts_with("[{\"metric\":"));
  CHECK(
      f.Ask("GET", "/stats?json").body.starts_with("[\"tsd.connectionmgr.connections 1700010000 "));
}

// OpenTSDB increments the counter with each new name, also after all ids are assigned.
TEST_CASE("a counter of ids above the largest id leaves zero ids available, and not fewer") {
  ApiFixture f;
  for (const auto& [kind, counter] :
       {std::pair("metrics", "\0\0\0\0\0\xFF\xFF\xFE"), std::pair("tagk", "\0\0\0\0\0\xFF\xFF\xFF"),
        std::pair("tagv", "\0\0\0\0\1\0\0\4")}) {
    REQUIRE(f.store.Mutate("tsdb-uid", {{Bytes(1, '\0'), {PutCell("id", kind, Bytes(counter, 8))}}})
                .ok());
  }
  const std::string text = f.Ask("GET", "/stats").body;
  const std::string metrics = f.Ask("GET", "/metrics").body;
  for (const auto& [kind, used, available] :
       {std::tuple("metrics", "16777214", "1"), std::tuple("tagk", "16777215", "0"),
        std::tuple("tagv", "16777220", "0")}) {
    CAPTURE(std::string(kind));
    const std::string tag = " kind=" + std::string(kind) + " host=";
    CHECK(text.find("tsd.uid.ids-used 1700010000 " + std::string(used) + tag) != std::string::npos);
    CHECK(text.find("tsd.uid.ids-available 1700010000 " + std::string(available) + tag) !=
          std::string::npos);
    CHECK(metrics.find("\nhourglass_uid_ids_available{kind=\"" + std::string(kind) + "\"} " +
                       available + "\n") != std::string::npos);
  }
}

TEST_CASE("statistics may have the full host name and the port") {
  ApiFixture f;
  f.options.stats_canonical = true;
  f.options.stats_with_port = true;
  f.options.port = 4343;
  const std::string text = f.Ask("GET", "/stats").body;
  CHECK(text.find(" fqdn=") != std::string::npos);
  CHECK(text.find(" host=") == std::string::npos);
  CHECK(text.find(" port=4343") != std::string::npos);
}

TEST_CASE("the process shows its memory, age and threads") {
  ApiFixture f;
  const std::string jvm = f.Ask("GET", "/api/stats/jvm").body;
  for (const char* part : {R"("memory":{"nonHeapMemoryUsage":)", R"("os":{"systemLoadAverage":)",
                           R"("pools":{},"gc":{}})"})
    CHECK_MESSAGE(jvm.find(part) != std::string::npos, part);
  CHECK(jvm.find(R"("heapMemoryUsage":{"init":0,"used":0,)") == std::string::npos);
  CHECK(f.Ask("GET", "/api/stats/threads").body.starts_with("[{\"threadID\":"));
  Check(f, {{"GET", "/api/stats/region_clients", "", 200, "[]"},
            {"GET", "/api/stats/query", "", 200, R"({"completed":[],"running":[]})"},
            {"DELETE", "/api/stats", "", 405, nullptr},
            {"DELETE", "/api/stats/jvm", "", 405, nullptr}});
}

TEST_CASE("pages for browsers are served") {
  ApiFixture f;
  for (const char* method : {"GET", "POST", "DELETE"}) {
    const BufferResponse home = f.Ask(method, "/");
    CHECK(home.status == 200);
    CHECK(home.content_type == "text/html; charset=UTF-8");
    CHECK(home.body.starts_with("<!DOCTYPE html>"));
  }
  Check(f,
        {{"GET", "//", "", 200, nullptr},
         {"GET", "/logs?json", "", 400, nullptr},
         {"GET", "/nothing", "", 404, nullptr},
         {"GET", "/s", "", 400, nullptr},
         {"GET", "/s/", "", 404, R"({"error":{"code":404,"message":"Page not found"}})"},
         {"GET", "/s/../secret", "", 400, nullptr},
         {"GET", "/favicon.ico", "", 404, R"({"error":{"code":404,"message":"Page not found"}})"}});
  CHECK(f.Ask("GET", "/s/missing.js").content_type == "text/javascript");
}

TEST_CASE("the last log lines are shown, and the log level can be set") {
  ApiFixture f;
  std::string level;
  f.services.recent_log = [] {
    return std::vector<std::string>{"2\tINFO\t1\ttsdb\tsecond \"line\"", "1\tWARN\t1\ttsdb\tfirst"};
  };
  f.services.set_log_level = [&](const std::string& asked) {
    level = asked;
    return asked == "DEBUG";
  };
  CHECK(f.Ask("GET", "/logs").body ==
        "2\tINFO\t1\ttsdb\tsecond \"line\"\n1\tWARN\t1\ttsdb\tfirst\n");
  CHECK(f.Ask("GET", "/logs").content_type == "text/plain");
  CHECK(f.Ask("GET", "/logs?json").body ==
        R"(["2\tINFO\t1\ttsdb\tsecond \"line\"","1\tWARN\t1\ttsdb\tfirst"])");
  CHECK(f.Ask("GET", "/logs?level=debug&logger=net").body ==
        "Set the log level to DEBUG on 1 logger.\n");
  CHECK(level == "DEBUG");
  CHECK(f.Ask("GET", "/logs?level=loud").status == 400);
}

TEST_CASE("statistics have the names that dashboards look for, with their tags") {
  ApiFixture f;
  f.counters.all_requests.Record(std::chrono::milliseconds(40));
  const std::string text = f.Ask("GET", "/stats").body;
  for (const char* line :
       {"tsd.http.latency_50pct ", "tsd.http.latency_95pct ", "tsd.http.graph.requests ",
        "tsd.hbase.latency_75pct ", "tsd.rpc.unauthorized ", "tsd.uid.filter.rejected ",
        "tsd.http.query.forbidden ", "tsd.hbase.nsre "})
    CHECK_MESSAGE(text.find(line) != std::string::npos, line);
  const size_t at = text.find("tsd.http.latency_90pct ");
  const std::string line = text.substr(at, text.find('\n', at) - at);
  CHECK(line.find(" 40 type=all host=") != std::string::npos);
  const size_t scan = text.find("method=scan");
  const std::string end = text.substr(scan, text.find('\n', scan) - scan);
  CHECK(end.starts_with("method=scan host="));
  CHECK(end.ends_with("class=TsdbQuery"));
}

}  // namespace
}  // namespace hg::http
