#include "http/wire/exp_json.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>

#include "http/wire/exp_result.h"

namespace hg::http {
namespace {

Result<query::ExpRequest> ReadExp(const std::string& text) {
  Result<JsonValue> body = ParseJson(text, nullptr);
  REQUIRE(body.ok());
  return ReadExpRequest(*body);
}

std::string Echo(const std::string& text) {
  Result<query::ExpRequest> request = ReadExp(text);
  if (!request.ok()) return "error: " + std::string(request.status().message());
  std::string out;
  JsonWriter json(&out);
  WriteExpResults(*request, {}, &json);
  return out;
}

TEST_CASE("lists with too many elements are refused before they are read") {
  std::string items = "{}";
  for (int i = 0; i < 4096; ++i) items += ",{}";
  for (const std::string key : {"metrics", "filters", "expressions", "outputs"}) {
    const auto read = ReadExp("{\"" + key + "\":[" + items + "]}");
    CHECK(read.status().message() == "\"" + key + "\" has 4097 elements, more than 4096");
  }
}

TEST_CASE("a request is shown as it was parsed, with the default join") {
  CHECK(Echo(R"({"time":{"start":1500000000,"aggregator":"sum","zz":1},
                 "metrics":[{"id":"a","metric":"m","fillPolicy":{"value":7}}],
                 "expressions":[{"id":"e","expr":"a"}],"outputs":[],"zz":1})") ==
        R"({"outputs":[],"query":{"name":null,)"
        R"("time":{"start":"1500000000","end":null,"timezone":null,"downsampler":null,)"
        R"("aggregator":"sum","rate":false},"filters":null,)"
        R"("metrics":[{"metric":"m","id":"a","filter":null,"aggregator":null,"timeOffset":null,)"
        R"("fillPolicy":{"policy":"scalar","value":7.0}}],)"
        R"("expressions":[{"id":"e","expr":"a","join":{"operator":"union","useQueryTags":false,)"
        R"("includeAggTags":true},"fillPolicy":null}],"outputs":[]}})");
}

TEST_CASE("all members of a request are parsed") {
  CHECK(Echo(R"({"name":"n","time":{"start":"1h-ago","end":"now","timezone":"UTC","rate":true,
                 "aggregator":"max","downsampler":{"interval":"1m","aggregator":"avg",
                 "fillPolicy":{"policy":"nan"}}},
                 "filters":[{"id":"f","explicitTags":true,"tags":[
                   {"type":"wildcard","tagk":"host","filter":"*","groupBy":true}]}],
                 "metrics":[{"id":"a","metric":"m","filter":"f","aggregator":"min",
                   "timeOffset":"1h-ago","fillPolicy":{"policy":"zero"}}],
                 "expressions":[{"id":"e","expr":"a","fillPolicy":{"policy":"none"},
                   "join":{"operator":"intersection","useQueryTags":true,"includeAggTags":false}}],
                 "outputs":[{"id":"e","alias":"x"},{}]})") ==
        R"({"outputs":[],"query":{"name":"n","time":{"start":"1h-ago","end":"now",)"
        R"("timezone":"UTC","downsampler":{"interval":"1m","aggregator":"avg",)"
        R"("fillPolicy":{"policy":"nan","value":"NaN"}},"aggregator":"max","rate":true},)"
        R"("filters":[{"id":"f","tags":[{"tagk":"host","filter":"*","group_by":true,)"
        R"("type":"wildcard"}],"explicitTags":true}],)"
        R"("metrics":[{"metric":"m","id":"a","filter":"f","aggregator":"min",)"
        R"("timeOffset":"1h-ago","fillPolicy":{"policy":"zero","value":0.0}}],)"
        R"("expressions":[{"id":"e","expr":"a","join":{"operator":"intersection",)"
        R"("useQueryTags":true,"includeAggTags":false},)"
        R"("fillPolicy":{"policy":"none","value":"NaN"}}],)"
        R"("outputs":[{"id":"e","alias":"x"},{"id":null,"alias":null}]}})");
}

TEST_CASE("joins and fill policies are accepted in any case") {
  CHECK(ReadExp(R"({"expressions":[{"join":{"operator":"Intersection"}}]})")
            ->expressions->front()
            .join.intersection);
  CHECK(ReadExp(R"({"metrics":[{"fillPolicy":{"policy":"NaN"}}]})")->metrics[0].fill->policy ==
        query::FillPolicy::kNan);
}

TEST_CASE("documents with the wrong structure are refused") {
  for (const char* text :
       {"[]", "1", R"({"time":1})", R"({"metrics":{}})", R"({"metrics":[1]})",
        R"({"metrics":[{"fillPolicy":{"policy":"zz"}}]})",
        R"({"metrics":[{"fillPolicy":{"policy":"zero","value":5}}]})",
        R"({"metrics":[{"fillPolicy":{"policy":"nan","value":5}}]})",
        R"({"metrics":[{"fillPolicy":{"value":"x"}}]})",
        R"({"expressions":[{"join":{"operator":"cross"}}]})", R"({"expressions":[{"join":{}}]})",
        R"({"filters":[{"tags":1}]})", R"({"time":{"rate":"maybe"}})", R"({"name":[]})"}) {
    CAPTURE(text);
    CHECK(ReadExp(text).status().code() == StatusCode::kInvalidArgument);
  }
}

TEST_CASE("rows are returned with their metadata") {
  auto table = std::make_shared<query::ExpTable>();
  table->times_ms = {1000, 2000, 3000};
  table->values = {1, NAN, 2, INFINITY, 3, 4};
  table->series.Edit().resize(2);
  table->series.Edit()[0].metrics = {{"2", "m.b"}, {"3", "m.a"}};
  table->series.Edit()[0].tags = {{{"1", "host"}, {"1", "a"}}, {{"2", "site"}, {"2", "b1"}}};
  table->series.Edit()[1].aggregated = {{"1", "host"}};
  std::vector<query::ExpResult> results = {
      {"e", "Both", false, table, 0, 2},
      {"f", {}, false, table, 2, 3},
      {"g", {}, true, std::make_shared<query::ExpTable>(), 0, 0}};
  std::string out;
  JsonWriter json(&out);
  WriteExpResults({}, results, &json);
  const std::string meta =
      R"("meta":[{"index":0,"metrics":["timestamp"]},)"
      R"({"index":1,"metrics":["m.a","m.b"],"commonTags":{"site":"b1","host":"a"},)"
      R"("aggregatedTags":[]},)"
      R"({"index":2,"metrics":["m.a","m.b"],"commonTags":{},"aggregatedTags":["host"]}]})";
  CHECK(out.substr(0, out.find(R"(,"query")")) ==
        R"({"outputs":[{"id":"e","alias":"Both","dps":[[1000,1.0,"NaN"],[2000,2.0,"Infinity"]],)"
        R"("dpsMeta":{"firstTimestamp":1000,"lastTimestamp":2000,"setCount":2,"series":2},)" +
            meta +
            R"(,{"id":"f","dps":[[3000,3.0,4.0]],)"
            R"("dpsMeta":{"firstTimestamp":3000,"lastTimestamp":0,"setCount":1,"series":2},)" +
            meta +
            R"(,{"id":"g","dps":[],"dpsMeta":{"firstTimestamp":9223372036854775807,)"
            R"("lastTimestamp":0,"setCount":0,"series":0}}])");
}

}  // namespace
}  // namespace hg::http
