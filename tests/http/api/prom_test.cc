// Prometheus' HTTP API.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/points/points.h"
#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

/// Two series of one metric with points a minute apart from 1700000000 on, and a metric without
/// dots.
class PromFixture : public ApiFixture {
 public:
  PromFixture() {
    AddSeries("sys.cpu.user", {{"host", "a"}, {"cpu", "0"}});
    AddSeries("sys.cpu.user", {{"host", "b"}});
    AddSeries("up", {{"host", "a"}});
  }

  /// The body of a response, preceded by its status if that is not 200.
  std::string Get(const std::string& target) { return Text(Ask("GET", target)); }
  std::string Post(const std::string& target, const std::string& form) {
    return Text(Ask("POST", target, form, {{"content-type", "application/x-www-form-urlencoded"}}));
  }

 private:
  static std::string Text(const BufferResponse& reply) {
    return (reply.status == 200 ? "" : std::to_string(reply.status) + " ") + reply.body;
  }
};

std::string Success(const std::string& data) {
  return R"({"status":"success","data":)" + data + "}";
}

std::string Truncated(const std::string& data) {
  return R"({"status":"success","data":)" + data +
         R"(,"warnings":["results truncated due to limit"]})";
}

std::string Failure(int status, const std::string& type, const std::string& message) {
  return std::to_string(status) + R"( {"status":"error","errorType":")" + type + R"(","error":")" +
         message + "\"}";
}

}  // namespace

TEST_CASE("a limit shortens a result, which says so") {
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

TEST_CASE("remarks about a query come with its result") {
  PromFixture f;
  CHECK(
      f.Get("/api/v1/query?query=rate(up%5B1m:10s%5D)&time=1700000060")
          .ends_with(R"x(]},"infos":["PromQL info: metric might not be a counter, name does not )x"
                     R"x(end in _total/_sum/_count/_bucket: \"up\" (1:6)"]})x"));
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

TEST_CASE("a form in the body is parsed like the query string, and is preceded by it") {
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
}

TEST_CASE("labels, their values and series are listed") {
  PromFixture f;
  CHECK(f.Get("/api/v1/labels") == Success(R"(["__name__","cpu","host"])"));
  CHECK(f.Get("/api/v1/labels?match[]=up") == Success(R"(["__name__","host"])"));
  CHECK(f.Get("/api/v1/labels?match[]=gone") == Success("[]"));
  CHECK(f.Get("/api/v1/labels?limit=2") == Truncated(R"(["__name__","cpu"])"));
  CHECK(f.Get("/api/v1/labels?limit=3") == Success(R"(["__name__","cpu","host"])"));
  CHECK(f.Get("/api/v1/series?match[]=up&match[]=%7Bhost%3D%22b%22%7D&limit=1") ==
        Truncated(R"([{"__name__":"sys.cpu.user","host":"b"}])"));
  CHECK(f.Get("/api/v1/label/host/values") == Success(R"(["a","b"])"));
  CHECK(f.Get("/api/v1/label/__name__/values") == Success(R"(["sys.cpu.user","up"])"));
  CHECK(f.Get("/api/v1/label/__name__/values?match[]=%7Bcpu%3D%220%22%7D") ==
        Success(R"(["sys.cpu.user"])"));
  CHECK(f.Get("/api/v1/label/host/values?match[]=up&match[]=%7Bcpu%3D%220%22%7D") ==
        Success(R"(["a"])"));
  CHECK(f.Get("/api/v1/label/gone/values") == Success("[]"));
  CHECK(f.Get("/api/v1/series?match[]=%7Bhost%3D%22a%22%7D&start=0&end=1") ==
        Success(R"([{"__name__":"sys.cpu.user","cpu":"0","host":"a"},)"
                R"({"__name__":"up","host":"a"}])"));
}

TEST_CASE("the default tag is a label only if the series has other tags") {
  PromFixture f;
  f.AddSeries("lonely", {{"source", "unknown"}});
  CHECK(f.Get("/api/v1/labels") == Success(R"(["__name__","cpu","host"])"));
  CHECK(f.Get("/api/v1/label/source/values") == Success("[]"));
  CHECK(f.Get("/api/v1/series?match[]=lonely") == Success(R"([{"__name__":"lonely"}])"));
  f.AddSeries("other", {{"source", "s"}});
  CHECK(f.Get("/api/v1/labels") == Success(R"(["__name__","cpu","host","source"])"));
}

TEST_CASE("the default tag is the one in the settings") {
  PromFixture f;
  f.options.default_tag_key = "via";
  f.options.default_tag_value = "lines";
  f.AddSeries("lonely", {{"via", "lines"}});
  f.AddSeries("named", {{"source", "unknown"}});
  CHECK(f.Get("/api/v1/labels") == Success(R"(["__name__","cpu","host","source"])"));
  CHECK(f.Get("/api/v1/series?match[]=lonely&match[]=named") ==
        Success(R"([{"__name__":"lonely"},{"__name__":"named","source":"unknown"}])"));
  CHECK(f.Get("/api/v1/query?query=lonely&time=1700000000")
            .find(R"("metric":{"__name__":"lonely"})") != std::string::npos);
}

TEST_CASE("a request may have 100 match[] and 100 regular expressions") {
  PromFixture f;
  const auto labels = [&](int count, const std::string& selector) {
    std::string target = "/api/v1/labels?limit=1";
    for (int i = 0; i < count; ++i) target += "&match[]=" + selector;
    return f.Get(target);
  };
  CHECK(labels(100, "up") == Truncated(R"(["__name__"])"));
  CHECK(labels(101, "up") ==
        Failure(400, "bad_data", R"(invalid parameter \"match[]\": given more than 100 times)"));
  CHECK(labels(50, "up%7Ba!~%22b%22,c!~%22d%22%7D") == Truncated(R"(["__name__"])"));
  CHECK(labels(34, "up%7Ba!~%22b%22,c!~%22d%22,e!~%22f%22%7D") ==
        Failure(400, "bad_data",
                R"(invalid parameter \"match[]\": more than 100 regular expressions in all of )"
                "them"));
}

TEST_CASE("clients can identify the server") {
  PromFixture f;
  CHECK(f.Get("/api/v1/metadata") == Success("{}"));
  const std::string build = f.Get("/api/v1/status/buildinfo");
  CHECK(build.starts_with(R"({"status":"success","data":{"version":"3.5.0","revision":)"));
  CHECK(build.find(R"("application":"Hourglass")") != std::string::npos);
}

TEST_CASE("the lists of rules and alerts are empty") {
  PromFixture f;
  CHECK(f.Get("/api/v1/rules") == Success(R"({"groups":[]})"));
  CHECK(f.Get("/api/v1/rules?type=alert") == Success(R"({"groups":[]})"));
  CHECK(f.Get("/api/v1/alerts") == Success(R"({"alerts":[]})"));
}

TEST_CASE("unknown paths below /api/v1/status get OpenTSDB's 404") {
  PromFixture f;
  for (const char* path : {"/api/status", "/api/status/buildinfo", "/api/v1/status",
                           "/api/v1/status/flags", "/api/v1/status/buildinfo/x"}) {
    CAPTURE(path);
    CHECK(f.Get(path).starts_with(R"(404 {"error":{"code":404,"message":"Endpoint not found")"));
  }
}

TEST_CASE("the memory of a PromQL query is limited like that of OpenTSDB's queries") {
  query::Options options = ApiFixture::UtcQueries();
  options.query_memory_bytes_max = 1;
  ApiFixture f(options);
  f.AddSeries("up", {{"host", "a"}});
  const BufferResponse reply = f.Ask("GET", "/api/v1/query?query=up&time=1700000000");
  CHECK(reply.status == 422);
  CHECK(reply.body.starts_with(R"({"status":"error","errorType":"execution","error":")"));
  for (const char* path : {"/api/v1/labels", "/api/v1/label/__name__/values"}) {
    CAPTURE(path);
    CHECK(f.Ask("GET", path).status == 422);
  }
  CHECK(f.queries.running().budget().taken() == 0);
}

TEST_CASE("all names are listed, whatever pieces they are read in, and their memory is released") {
  PromFixture f;
  constexpr int kMore = 2500;
  for (int i = 0; i < kMore; ++i)
    REQUIRE(f.names.FindOrAssign(UidKind::kMetric, "x." + std::to_string(i)).ok());
  const std::string all = f.Get("/api/v1/label/__name__/values");
  CHECK(std::count(all.begin(), all.end(), ',') == kMore + 2);  // and "data", and two others
  CHECK(f.queries.running().budget().taken() == 0);
}

}  // namespace hg::http
