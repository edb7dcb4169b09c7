// Prometheus' HTTP API: queries, expressions and samples.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "http/wire/prom_value.h"
#include "query/promql/sample.h"
#include "storage/codec/row_key.h"
#include "tests/http/api/prom_fixture.h"
#include "tests/support/cpu_time.h"

namespace hg::http {

TEST_CASE("printing a long series ends when its client has gone") {
  constexpr size_t kSamples = 5'000'000;
  query::promql::Value value;
  value.type = query::promql::ValueType::kMatrix;
  value.matrix.push_back(
      {{}, std::vector<int64_t>(kSamples, 1'700'000'000'123), std::vector<double>(kSamples, 0.1)});
  BufferResponse gone;
  gone.cancelled = true;
  JsonWriter json(&gone);
  CHECK(CpuSecondsOf([&] { WriteInstant(value, 0, &json); }) < 0.1);
}

TEST_CASE("a limit shortens a result, and the response has a warning about it") {
  PromFixture f;
  CHECK(f.Get("/api/v1/query?query=%7Bhost!%3D%22%22%7D&time=1700000000&limit=1") ==
        Truncated(R"({"resultType":"vector","result":[{"metric":{"__name__":"sys.cpu.user",)"
                  R"("cpu":"0","host":"a"},"value":[1700000000,"1"]}]})"));
  CHECK(f.Get("/api/v1/query_range?query=%7Bhost!%3D%22%22%7D&start=1700000000&end=1700000000&"
              "step=1&limit=1") ==
        Truncated(R"({"resultType":"matrix","result":[{"metric":{"__name__":"sys.cpu.user",)"
                  R"("cpu":"0","host":"a"},"values":[[1700000000,"1"]]}]})"));
  CHECK(f.Get("/api/v1/query?query=up&time=1700000000&limit=1") ==
        f.Get("/api/v1/query?query=up&time=1700000000&limit=0"));
  CHECK(f.Get("/api/v1/query?query=up&limit=x") ==
        Failure(400, "bad_data", R"(invalid parameter \"limit\": \"x\" is no number)"));
}

TEST_CASE("the paths of Prometheus may have the prefix /prometheus, other paths may not") {
  PromFixture f;
  CHECK(f.Get("/prometheus/api/v1/query?query=up&time=1700000000") ==
        f.Get("/api/v1/query?query=up&time=1700000000"));
  CHECK(f.Get("/prometheus/api/v1/labels") == f.Get("/api/v1/labels"));
  CHECK(f.Get("/prometheus/federate?match[]=up") == f.Get("/federate?match[]=up"));
  CHECK(f.Get("/prometheus/-/healthy") == f.Get("/-/healthy"));
  CHECK(f.Get("/prometheus/api/v1/nothing").starts_with("404 "));
  CHECK(f.Get("/prometheus/metrics").starts_with("404 "));
  CHECK(f.Get("/prometheus").starts_with("404 "));
}

TEST_CASE("the paths of Prometheus may end with a slash") {
  PromFixture f;
  for (const char* path : {"/api/v1/labels", "/api/v1/label/host/values", "/api/v1/metadata",
                           "/api/v1/rules", "/api/v1/targets/metadata", "/api/v1/status/flags",
                           "/api/v1/format_query", "/federate", "/prometheus/api/v1/alerts"}) {
    CAPTURE(path);
    CHECK(f.Get(std::string(path) + "/?query=up&match[]=up") ==
          f.Get(std::string(path) + "?query=up&match[]=up"));
  }
  CHECK(f.Get("/api/v1/metadata//").starts_with("404 "));
  CHECK(f.Get("/metrics/").starts_with("404 "));
}

TEST_CASE("warnings and infos about a query are in its response") {
  PromFixture f;
  CHECK(
      f.Get("/api/v1/query?query=rate(up%5B1m:10s%5D)&time=1700000060")
          .ends_with(R"x(]},"infos":["PromQL info: metric might not be a counter, name does not )x"
                     R"x(end in _total/_sum/_count/_bucket: \"up\" (1:1)"]})x"));
  CHECK(f.Get("/api/v1/query?query=quantile(2,up)&time=1700000000")
            .ends_with(R"x("warnings":["PromQL warning: quantile value should be between 0 and )x"
                       R"x(1, got 2 (1:10)"]})x"));
}

TEST_CASE("names in paths may be escaped as Prometheus 3 escapes them") {
  PromFixture f;
  f.AddSeries("m", {{"host.name", "web1"}, {"U__x", "y"}});
  const std::string web = Success(R"(["web1"])");
  CHECK(f.Get("/api/v1/label/host.name/values") == web);
  CHECK(f.Get("/api/v1/label/U__host_2E_name/values") == web);
  CHECK(f.Get("/api/v1/label/U__host_2e_name/values") == web);
  CHECK(f.Get("/api/v1/label/U______name____/values") == f.Get("/api/v1/label/__name__/values"));
  CHECK(f.Get("/api/v1/label/U__host_2E/values") == Success("[]"));
  CHECK(f.Get("/api/v1/label/U__host_FFFFFFFFF_/values") == Success("[]"));
}

TEST_CASE("an instant query returns each type of value") {
  PromFixture f;
  CHECK(f.Get("/api/v1/query?query=up&time=1700000000") ==
        Success(R"({"resultType":"vector","result":[{"metric":{"__name__":"up","host":"a"},)"
                R"("value":[1700000000,"1"]}]})"));
  CHECK(f.Get("/api/v1/query?query=1%2B1&time=4.5") ==
        Success(R"({"resultType":"scalar","result":[4.500,"2"]})"));
  CHECK(f.Get("/api/v1/query?query=%22x%22&time=4") ==
        Success(R"({"resultType":"string","result":[4,"x"]})"));
  CHECK(f.Get("/api/v1/query?query=up%5B1m%5D&time=1700000030") ==
        Success(R"({"resultType":"matrix","result":[{"metric":{"__name__":"up","host":"a"},)"
                R"("values":[[1700000000,"1"]]}]})"));
  CHECK(f.Get("/api/v1/query?query=vector(1)/0&time=1") ==
        Success(R"({"resultType":"vector","result":[{"metric":{},"value":[1,"+Inf"]}]})"));
  // Without a time the current time is used.
  CHECK(f.Get("/api/v1/query?query=time()") ==
        Success(R"({"resultType":"scalar","result":[1700010000,"1700010000"]})"));
}

TEST_CASE("names with characters of which the settings allow only some are found by their texts") {
  PromFixture f;
  f.options.extra_name_characters = " ";
  f.AddSeries("m", {{"host", "GET /a_x003A_b"}});
  const std::string query = "/api/v1/query?time=1700000000&query=m%7Bhost%3D%22GET%20/a:b%22%7D";
  CHECK(f.Get(query).find(R"("host":"GET /a:b")") != std::string::npos);
}

TEST_CASE("names that PromQL cannot write without quotes are matched as texts") {
  PromFixture f;
  CHECK(f.Get("/api/v1/query?query=%7B__name__%3D%22sys.cpu.user%22,host%3D%22b%22%7D&"
              "time=1700000000") ==
        Success(R"({"resultType":"vector","result":[{"metric":{"__name__":"sys.cpu.user",)"
                R"("host":"b"},"value":[1700000000,"1"]}]})"));
}

TEST_CASE("a range query returns a matrix sorted by labels") {
  PromFixture f;
  CHECK(f.Get("/api/v1/query_range?query=%7Bhost!%3D%22%22%7D&start=1699999980&end=1700000020&"
              "step=20") == Success(R"({"resultType":"matrix","result":[)"
                                    R"({"metric":{"__name__":"sys.cpu.user","cpu":"0","host":"a"},)"
                                    R"("values":[[1700000000,"1"],[1700000020,"1"]]},)"
                                    R"({"metric":{"__name__":"sys.cpu.user","host":"b"},)"
                                    R"("values":[[1700000000,"1"],[1700000020,"1"]]},)"
                                    R"({"metric":{"__name__":"up","host":"a"},)"
                                    R"("values":[[1700000000,"1"],[1700000020,"1"]]}]})"));
  CHECK(f.Get("/api/v1/query_range?query=time()&start=1&end=2&step=500ms") ==
        Success(R"({"resultType":"matrix","result":[{"metric":{},)"
                R"("values":[[1,"1"],[1.500,"1.5"],[2,"2"]]}]})"));
  CHECK(f.Get("/api/v1/query_range?query=nothing&start=1&end=2&step=1") ==
        Success(R"({"resultType":"matrix","result":[]})"));
}

TEST_CASE("a form in the body is parsed like the query string, and takes precedence over it") {
  PromFixture f;
  const std::string one = Success(R"({"resultType":"scalar","result":[7,"1"]})");
  CHECK(f.Post("/api/v1/query", "query=1&time=7") == one);
  CHECK(f.Post("/api/v1/query", "time=7&query=1") == one);
  CHECK(f.Post("/api/v1/query?query=2", "query=1&time=7") == one);
  CHECK(f.Post("/api/v1/query_range", "query=1&start=7&end=7&step=1") ==
        Success(R"({"resultType":"matrix","result":[{"metric":{},"values":[[7,"1"]]}]})"));
  CHECK(f.Post("/api/v1/series", "match[]=up") == Success(R"([{"__name__":"up","host":"a"}])"));
  CHECK(f.Post("/api/v1/query", "query=%zz") ==
        Failure(400, "bad_data", "the form in the body has a bad percent escape"));
}

TEST_CASE("a form of more than 10 MiB is refused before it is decoded") {
  PromFixture f;
  const std::string largest = "query=1&time=7&rest=";
  CHECK(f.Post("/api/v1/query", largest + std::string((10 << 20) - largest.size(), 'a')) ==
        Success(R"({"resultType":"scalar","result":[7,"1"]})"));
  CHECK(f.Post("/api/v1/query", largest + std::string((10 << 20) - largest.size() + 1, 'a')) ==
        Failure(400, "bad_data",
                "the form in the body has 10485761 bytes; at most 10485760 are allowed"));
}

TEST_CASE("OpenTSDB's queries keep their paths") {
  PromFixture f;
  const std::string points = f.Get("/api/query?start=1700000000&end=1700000001&m=sum:up");
  CHECK(points.find(R"("1700000000":1)") != std::string::npos);
  CHECK(f.Get("/api/v1/query?start=1700000000&end=1700000001&m=sum:up") == points);
  const std::string document =
      R"({"start":1700000000,"end":1700000001,"queries":[{"aggregator":"sum","metric":"up"}]})";
  CHECK(f.Post("/api/v1/query", document) == points);
  CHECK(f.Ask("POST", "/api/query", document).body == points);
  CHECK(f.Get("/api/v1/query?time=1").find("errorType") == std::string::npos);
}

TEST_CASE("errors have a type and a message") {
  PromFixture f;
  CHECK(f.Get("/api/v1/query?query=up%20up") ==
        Failure(400, "bad_data",
                R"(invalid parameter \"query\": 1:4: parse error: unexpected \"up\")"));
  CHECK(f.Get("/api/v1/query?query=1&time=x") ==
        Failure(400, "bad_data",
                R"(invalid parameter \"time\": cannot parse \"x\" to a valid timestamp)"));
  CHECK(f.Get("/api/v1/query_range?query=1&end=2&step=1") ==
        Failure(400, "bad_data",
                R"(invalid parameter \"start\": cannot parse \"\" to a valid timestamp)"));
  CHECK(f.Get("/api/v1/query_range?query=1&start=3&end=2&step=1") ==
        Failure(400, "bad_data",
                R"(invalid parameter \"end\": end timestamp must not be before start time)"));
  CHECK(
      f.Get("/api/v1/query_range?query=1&start=1&end=2&step=0") ==
      Failure(400, "bad_data",
              R"(invalid parameter \"step\": the step must be at least a millisecond, not \"0\")"));
  CHECK(f.Get("/api/v1/query_range?query=up%5B5m%5D&start=1&end=2&step=1") ==
        Failure(400, "bad_data",
                R"(invalid parameter \"query\": invalid expression type \"range vector\" for )"
                "range query, must be Scalar or instant Vector"));
  CHECK(f.Get("/api/v1/query_range?query=1&start=0&end=11001&step=1") ==
        Failure(400, "bad_data",
                "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the "
                "query resolution (?step=XX)"));
  CHECK(
      f.Get("/api/v1/query_range?query=1&start=0&end=11000&step=1").starts_with(R"({"status":"s)"));
  CHECK(f.Get("/api/v1/query?query=topk(NaN,up)&time=1700000000") ==
        Failure(422, "execution", "Parameter value is NaN"));
  CHECK(f.Get("/api/v1/series") == Failure(400, "bad_data", "no match[] parameter provided"));
  CHECK(f.Get("/api/v1/series?match[]=%7B%7D") ==
        Failure(400, "bad_data",
                R"(invalid parameter \"match[]\": 1:1: parse error: a selector needs a matcher )"
                "that does not admit the empty text"));
  CHECK(f.Get("/api/v1/labels?limit=x") ==
        Failure(400, "bad_data", R"(invalid parameter \"limit\": \"x\" is no number)"));
  CHECK(f.Get("/api/v1/label/host") ==
        Failure(404, "not_found", "the path is /api/v1/label/NAME/values"));
  // The client's bytes are quoted as UTF-8: a reader of JSON refuses others.
  CHECK(f.Get("/api/v1/label/%C3%28/values") ==
        Failure(400, "bad_data", "invalid label name: \\\"\xEF\xBF\xBD(\\\""));
}

TEST_CASE("with the setting, metrics are shown and found with underscores") {
  PromFixture f;
  const std::string found = "/api/v1/series?match[]=sys_cpu_user%7Bhost=%22b%22%7D";
  CHECK(f.Get(found) == Success("[]"));
  f.options.underscore_names = true;
  CHECK(f.Get(found) == Success(R"([{"__name__":"sys_cpu_user","host":"b"}])"));
  CHECK(f.Get("/api/v1/query?query=sys_cpu_user%7Bhost=%22b%22%7D&time=1700000000") ==
        Success(R"({"resultType":"vector","result":[{"metric":{"__name__":"sys_cpu_user",)"
                R"("host":"b"},"value":[1700000000,"1"]}]})"));
  const std::string names = Success(R"(["sys_cpu_user","up"])");
  CHECK(f.Get("/api/v1/label/__name__/values") == names);
  CHECK(f.Get("/api/v1/label/__name__/values?match[]=%7Bhost=%22a%22%7D") == names);
  f.notes.Describe({"os.cpu", "gauge", "", ""});
  CHECK(f.Get("/api/v1/metadata").find("\"os_cpu\":") != std::string::npos);
}

TEST_CASE("a result with two series of equal labels is refused") {
  PromFixture f;
  // One of them was stored while tsd.core.tag.allow_specialchars had the colon.
  f.AddSeries("m", {{"a:b", "x"}});
  f.AddSeries("m", {{"a_x003A_b", "x"}});
  const std::string refused = Failure(422, "execution",
                                      "vector cannot contain metrics with the same labelset: "
                                      R"({__name__=\"m\", a:b=\"x\"})");
  CHECK(f.Get("/api/v1/query?query=m&time=1700000000") == refused);
  CHECK(f.Get("/api/v1/query?query=m%5B1m%5D&time=1700000000") == refused);
  CHECK(f.Get("/api/v1/query_range?query=m&start=1700000000&end=1700000060&step=60") == refused);
  CHECK(f.Get("/api/v1/query?query=count(m)&time=1700000000") ==
        Success(R"({"resultType":"vector","result":[{"metric":{},"value":[1700000000,"2"]}]})"));
}

TEST_CASE("the memory of a PromQL query is limited like that of OpenTSDB's queries") {
  query::Options options = ApiFixture::UtcQueries();
  options.query_memory_bytes_max = 1;
  ApiFixture f(options);
  f.AddSeries("up", {{"host", "a"}});
  const BufferResponse reply = f.Ask("GET", "/api/v1/query?query=up&time=1700000000");
  CHECK(reply.status == 422);
  CHECK(reply.body.starts_with(R"({"status":"error","errorType":"execution","error":")"));
  for (const char* path :
       {"/api/v1/labels", "/api/v1/label/__name__/values", "/api/v1/labels?start=1",
        "/api/v1/label/host/values?end=1800000000", "/api/v1/series?match[]=up&start=1"}) {
    CAPTURE(path);
    CHECK(f.Ask("GET", path).status == 422);
  }
  CHECK(f.queries.running().budget().taken() == 0);
}

TEST_CASE("an expression is formatted") {
  PromFixture f;
  CHECK(f.Get("/api/v1/format_query?query=sum(foo)by(a)%2Fbar") ==
        Success(R"("sum by (a) (foo) / bar")"));
  CHECK(f.Post("/api/v1/format_query", "query=up%7Ba%3D'b'%7D%5B300%5D") ==
        Success(R"("up{a=\"b\"}[5m]")"));
  CHECK(f.Get("/api/v1/format_query?query=sum(") ==
        Failure(400, "bad_data",
                R"(invalid parameter \"query\": 1:5: parse error: unexpected end of input)"));
  CHECK(f.Get("/api/v1/format_query").starts_with("400 "));
  CHECK(f.queries.running().budget().taken() == 0);
}

TEST_CASE("an expression is returned as a tree") {
  PromFixture f;
  CHECK(f.Get("/api/v1/parse_query?query=foo/bar") ==
        Success(R"({"type":"binaryExpr","op":"/",)"
                R"("lhs":{"type":"vectorSelector","name":"foo","matchers":[{"name":"__name__",)"
                R"("value":"foo","type":"="}],"offset":0,"offsetExpr":null,"timestamp":null,)"
                R"("startOrEnd":null,"anchored":false,"smoothed":false},)"
                R"("rhs":{"type":"vectorSelector","name":"bar","matchers":[{"name":"__name__",)"
                R"("value":"bar","type":"="}],"offset":0,"offsetExpr":null,"timestamp":null,)"
                R"("startOrEnd":null,"anchored":false,"smoothed":false},)"
                R"("matching":{"card":"one-to-one","labels":[],"on":false,"include":[],)"
                R"("fillValues":{"lhs":null,"rhs":null}},"bool":false})"));
  CHECK(f.Post("/api/v1/parse_query", "query=round(-(x offset 1m),0.5)") ==
        Success(R"({"type":"call","func":{"name":"round","argTypes":["vector","scalar"],)"
                R"("variadic":1,"returnType":"vector"},"args":[{"type":"unaryExpr","op":"-",)"
                R"("expr":{"type":"parenExpr","expr":{"type":"vectorSelector","name":"x",)"
                R"("matchers":[{"name":"__name__","value":"x","type":"="}],"offset":60000,)"
                R"("offsetExpr":null,"timestamp":null,"startOrEnd":null,"anchored":false,)"
                R"("smoothed":false}}},{"type":"numberLiteral","val":"0.5"}]})"));
  CHECK(f.Post("/api/v1/parse_query", R"(query=quantile by(z,a)(1,{__name__="x",b!~"c"}[1m:5s]@9))")
            .starts_with("400 "));
  CHECK(f.Post("/api/v1/parse_query",
               R"(query=topk by(z,a)(1,max_over_time({__name__="x",b!~"c"}[1m:5s]@9)))") ==
        Success(R"({"type":"aggregation","op":"topk","expr":{"type":"call","func":{)"
                R"("name":"max_over_time","argTypes":["matrix"],"variadic":0,)"
                R"("returnType":"vector"},"args":[{"type":"subquery","expr":{)"
                R"("type":"vectorSelector","name":"","matchers":[{"name":"__name__","value":"x",)"
                R"("type":"="},{"name":"b","value":"c","type":"!~"}],"offset":0,)"
                R"("offsetExpr":null,"timestamp":null,"startOrEnd":null,"anchored":false,)"
                R"("smoothed":false},"range":60000,"rangeExpr":null,"step":5000,"stepExpr":null,)"
                R"("offset":0,"offsetExpr":null,"timestamp":9000,"startOrEnd":null}]},)"
                R"("param":{"type":"numberLiteral","val":"1"},"grouping":["z","a"],)"
                R"("without":false})"));
  CHECK(f.Post("/api/v1/parse_query", "query=x[(5m)%2Bstep()]") ==
        R"({"status":"success","data":{"type":"matrixSelector","name":"x","range":0,)"
        R"("rangeExpr":{"type":"durationExpr","op":"+","lhs":{"type":"durationExpr",)"
        R"("op":"+","lhs":null,"rhs":{"type":"numberLiteral","val":"300",)"
        R"("duration":true},"wrapped":true},"rhs":{"type":"durationExpr","op":"step",)"
        R"("lhs":null,"rhs":null,"wrapped":false},"wrapped":false},)"
        R"("matchers":[{"name":"__name__","value":"x","type":"="}],"offset":0,)"
        R"("offsetExpr":null,"timestamp":null,"startOrEnd":null,"anchored":false,)"
        R"("smoothed":false}})");
  CHECK(f.Get("/api/v1/parse_query?query=%22a%22") ==
        Success(R"({"type":"stringLiteral","val":"a"})"));
  CHECK(f.Get("/api/v1/parse_query?query=x%5B5m%5D%40end()").find(R"("startOrEnd":"end")") !=
        std::string::npos);
  CHECK(f.Get("/api/v1/parse_query?query=1%3E%20bool%202").find(R"("matching":null,"bool":true)") !=
        std::string::npos);
  CHECK(f.Get("/api/v1/parse_query?query=a%20or%20b").find(R"("card":"many-to-many")") !=
        std::string::npos);
  CHECK(f.queries.running().budget().taken() == 0);
}

TEST_CASE("/federate returns the newest samples of the last five minutes") {
  PromFixture f;
  CHECK(f.Get("/federate").empty());
  CHECK(f.Get("/federate?match[]=up").empty());  // its sample is too old
  CHECK(f.Get("/federate?match[]=%7B").starts_with("400 "));
  f.clock.SetMs(1700000300000);
  CHECK(f.Get("/federate?match[]=up&match[]=%7Bhost%3D%22b%22%7D&match[]=%7Bhost!%3D%22%22%7D") ==
        "# TYPE sys_cpu_user untyped\n"
        "sys_cpu_user{cpu=\"0\",host=\"a\",instance=\"\"} 1 1700000000000\n"
        "sys_cpu_user{host=\"b\",instance=\"\"} 1 1700000000000\n"
        "# TYPE up untyped\n"
        "up{host=\"a\",instance=\"\"} 1 1700000000000\n");
  CHECK(f.Get("/federate?match[]=up&match[]=up") == f.Get("/federate?match[]=up"));
  const BufferResponse quoted =
      f.Ask("GET", "/federate?match[]=%7Bhost%3D%22b%22%7D", {},
            {{"accept", "text/plain;version=1.0.0;escaping=allow-utf-8"}});
  CHECK(quoted.content_type == "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8");
  CHECK(quoted.body ==
        "# TYPE \"sys.cpu.user\" untyped\n"
        "{\"sys.cpu.user\",host=\"b\",instance=\"\"} 1 1700000000000\n");
  f.AddSeries("m", {{"instance", "i"}, {"a.b", "c"}});
  CHECK(f.Get("/federate?match[]=m").ends_with("m{a_b=\"c\",instance=\"i\"} 1 1700000000000\n"));
  const auto store = [&f](uint32_t second, double value) {
    const Result<SeriesNumber> series =
        f.points.Register(codec::MakeTsuid(*f.names.FindOrAssign(UidKind::kMetric, "up"),
                                           {*f.names.FindOrAssign(UidKind::kTagk, "host") +
                                            *f.names.FindOrAssign(UidKind::kTagv, "a")}));
    REQUIRE(series.ok());
    const PointEntry entry = MakePointEntry(*series, Timestamp{second}, PointValue::Double(value));
    REQUIRE(f.points.Append({&entry, 1}).ok());
  };
  store(1700000060, -INFINITY);
  CHECK(f.Get("/federate?match[]=up").ends_with("} -Inf 1700000060000\n"));
  store(1700000061, query::promql::Absent());  // a stale marker
  CHECK(f.Get("/federate?match[]=up").empty());
  f.clock.SetMs(1700000300001);
  CHECK(f.Get("/federate?match[]=m").empty());
  CHECK(f.queries.running().budget().taken() == 0);
}

TEST_CASE("/federate returns one family and one line for names that are equal after escaping") {
  PromFixture f;
  f.clock.SetMs(1700000300000);
  for (const char* metric : {"a-b", "a.a", "a.b", "a_b"})
    for (const char* tag : {"k.l", "k_l"}) f.AddSeries(metric, {{tag, "v"}});
  f.AddSeries("a.b", {{"k_l", "other"}});
  f.AddSeries("a.b", {{"k.l", "first"}, {"k_l", "last"}});
  CHECK(f.Get("/federate?match[]=%7B__name__=~%22a.*%22%7D") ==
        "# TYPE a_a untyped\n"
        "a_a{k_l=\"v\",instance=\"\"} 1 1700000000000\n"
        "# TYPE a_b untyped\n"
        "a_b{k_l=\"last\",instance=\"\"} 1 1700000000000\n"
        "a_b{k_l=\"other\",instance=\"\"} 1 1700000000000\n"
        "a_b{k_l=\"v\",instance=\"\"} 1 1700000000000\n");
  CHECK(f.queries.running().budget().taken() == 0);
}

}  // namespace hg::http
