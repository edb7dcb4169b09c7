#include <doctest/doctest.h>

#include <string>

#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

const std::string kSeries = "000001000001000001";

std::string Shown(const std::string& tsuid, int64_t start, const std::string& description,
                  const std::string& notes = "", int64_t end = 0) {
  return R"({"tsuid":")" + tsuid + R"(","description":")" + description + R"(","notes":")" + notes +
         R"(","startTime":)" + std::to_string(start) + R"(,"endTime":)" + std::to_string(end) + "}";
}

TEST_CASE("an unchanged annotation gets 304 without a content type, and a missing one gets 404") {
  ApiFixture f;
  const std::string key = R"("startTime":1700000101,"tsuid":")" + kSeries + "\"";
  CHECK(f.Ask("POST", "/api/annotation", "{" + key + R"(,"notes":"more"})").status == 200);
  const BufferResponse unchanged = f.Ask("POST", "/api/annotation", "{" + key + "}");
  CHECK(unchanged.status == 304);
  CHECK(unchanged.content_type.empty());
  Check(f, "GET", "/api/annotation?start_time=1700000101", "", 404,
        R"({"error":{"code":404,"message":"Unable to locate annotation in storage"}})");
}

TEST_CASE("a text that is not UTF-8 is stored in a readable form") {
  ApiFixture f;
  const std::string key = R"("startTime":1700000101,"tsuid":")" + kSeries + "\"";
  for (const char* bad : {"\xFF", "\xC3(", "\xED\xB0\x80", "\\udc00"}) {
    CAPTURE(bad);
    CHECK(f.Ask("PUT", "/api/annotation",
                "{" + key + R"(,"description":"x)" + bad + R"(","custom":{"k)" + bad + R"(":"v"}})")
              .status == 200);
    CHECK(f.Ask("GET", "/api/annotation?tsuid=" + kSeries + "&start_time=1700000101").status ==
          200);
  }
}

TEST_CASE("a range without an end, or with an end in milliseconds, extends to now") {
  ApiFixture f;
  REQUIRE(f.Ask("POST", "/api/annotation", R"({"startTime":1700000171,"endTime":1700000191000})")
              .status == 200);
  CHECK(f.Ask("GET", "/api/annotations?start_time=1700000100").body != "[]");
  CHECK(f.Ask("GET", "/api/annotations?start_time=1700000100&end_time=1700000300").body == "[]");
}

TEST_CASE("each request for annotations gets OpenTSDB's status") {
  ApiFixture f;
  struct {
    const char* method;
    const char* target;
    const char* body;
    int status;
  } cases[] = {
      {"GET", "/api/annotation?start_time=1700000171&notes=only&method_override=PUT", "", 200},
      {"GET", "/api/annotation?start_time=1700000171&method_override=patch", "", 405},
      {"GET", "/api/annotation", "", 400},
      {"GET", "/api/annotation?start_time=abc", "", 500},
      {"GET", "/api/annotation?start_time=1700000101&tsuid=0001", "", 500},
      {"GET", "/api/annotation?start_time=1700000101&tsuid=1000001000001", "", 404},
      {"DELETE", "/api/annotation?start_time=1700000101&tsuid=1000001000001", "", 204},
      {"POST", "/api/annotation", R"({"startTime":1,"description":"\ud800"})", 400},
      {"POST", "/api/annotation", R"({"startTime":1,"description":"\ud800\u0041"})", 400},
      {"POST", "/api/annotation/bulk", R"([{"startTime":1,"notes":"\ud800"}])", 400},
      {"PATCH", "/api/annotation", "", 400},  // it is read before its method is checked
      {"PATCH", "/api/annotation", "}", 500},
      {"GET", "/api/annotations?start_time=5&end_time=0", "", 200},  // up to now
      {"GET", "/api/annotations?start_time=0&end_time=x", "", 400},
      {"POST", "/api/annotation/bulk", "null", 500},
      {"DELETE", "/api/annotation/bulk?start_time=5&end_time=5&global&jsonp=", "", 400},
      {"POST", "/api/annotation/bulk", R"([{"startTime":1,"tsuid":"0001","description":"x"}])",
       400},
      {"POST", "/api/annotation", R"({"startTime":1,"tsuid":"0001","description":"x"})", 500},
      {"DELETE", "/api/annotation?start_time=1&tsuid=0001", "", 500},
      {"POST", "/api/annotation/bulk", "[null]", 500},
      {"GET", "/api/annotations?start_time=1969/12/31", "", 400},
      {"GET", "/api/annotations?start_time=5&end_time=1969/12/31", "", 500},
      {"GET", "/api/annotation?start_time=1969/12/31", "", 400},
      {"GET", "/api/annotation?start_time=-1", "", 500},
      {"DELETE", "/api/annotation/bulk?start_time=1969/12/31&global", "", 200},
      {"GET", "/api/annotations", "", 400},
  };
  for (const auto& c : cases) {
    CAPTURE(c.method);
    CAPTURE(c.target);
    CAPTURE(c.body);
    CHECK(f.Ask(c.method, c.target, c.body).status == c.status);
  }
}

TEST_CASE("/api/annotations returns the global annotations of a range, by default up to now") {
  ApiFixture f;
  f.Ask("POST", "/api/annotations", R"({"startTime":1700000111,"description":"one"})");
  f.Ask("POST", "/api/annotation",
        R"({"startTime":1700000121,"endTime":1700000151,"description":"span"})");
  const std::string both = "[" + Shown("", 1700000111, "one") + "," +
                           Shown("", 1700000121, "span", "", 1700000151) + "]";
  Check(f, "GET", "/api/annotations?start_time=1700000101", "", 200, both);
  Check(f, "GET", "/api/annotations?start_time=1700000101&end_time=1700000130", "", 200,
        "[" + Shown("", 1700000111, "one") + "]");
}

TEST_CASE("a bulk request stores many annotations, and the response omits unchanged ones") {
  for (const char* path : {"/api/annotation/bulk", "/api/annotations/bulk"}) {
    ApiFixture f;
    Check(
        f, "POST", path,
        R"([{"startTime":1700000101,"tsuid":"000001000001000001","description":"one"},{"startTime":1700000121},)"
        R"({"startTime":1700000131,"description":"two"}])",
        200, "[" + Shown(kSeries, 1700000101, "one") + "," + Shown("", 1700000131, "two") + "]");
    CHECK(f.Ask("GET", path).status == 405);
    CHECK(f.Ask("POST", path, "[5]").status == 400);
  }
}

TEST_CASE("an invalid item ends a bulk request, and the items before it are stored") {
  ApiFixture f;
  Check(
      f, "POST", "/api/annotation/bulk",
      R"([{"startTime":1700000151,"description":"good"},{"description":"no start"},{"startTime":1700000152,"description":"late"}])",
      400,
      R"({"error":{"code":400,"message":"The start timestamp has not been set",)"
      R"("details":"Annotation error: TSUID:  Start: 0  Description: no start"}})");
  CHECK(f.Ask("GET", "/api/annotation?start_time=1700000151").status == 200);
  CHECK(f.Ask("GET", "/api/annotation?start_time=1700000152").status == 404);
}

TEST_CASE(
    "a bulk delete without an end deletes up to now, and counts the annotations of a "
    "repeated series twice") {
  ApiFixture f;
  f.Ask(
      "POST", "/api/annotation/bulk",
      R"([{"startTime":1700000101,"tsuid":"000001000001000001","description":"a"},)"
      R"({"startTime":1700000111,"tsuid":"000001000001000002","description":"b"},)"
      R"({"startTime":1700000121,"description":"c"},{"startTime":1700000131,"description":"d"}])");
  Check(
      f, "DELETE", "/api/annotation/bulk",
      R"({"startTime":1700000101000,"tsuids":["000001000001000002","000001000001000002"],"global":true})",
      200,
      R"({"tsuids":["000001000001000002","000001000001000002"],"global":true,"startTime":1700000101000,"endTime":1700010000000,"totalDeleted":4})");
}

TEST_CASE("a bulk delete needs a start and something to delete") {
  ApiFixture f;
  Check(f, "DELETE", "/api/annotation/bulk", "", 400,
        R"({"error":{"code":400,"message":"Missing parameter <code>start_time</code>"}})");
  Check(f, "DELETE", "/api/annotation/bulk?start_time=1700000101", "", 400,
        R"({"error":{"code":400,"message":"Missing the TSUIDs or global annotations flag"}})");
  Check(f, "DELETE", "/api/annotation/bulk", R"({"global":true})", 400,
        R"({"error":{"code":400,"message":"Missing the start time value"}})");
  for (const char* body :
       {R"({"startTime":"x","global":true})", R"({"startTime":5,"tsuids":"a"})", "[]",
        R"({"startTime":5,"tsuids":["xyz"]})", R"({"startTime":5,"tsuids":["000001"]})",
        R"({"startTime":5,"tsuids":["01"]})", R"({"startTime":5,"tsuids":[""]})",
        R"({"startTime":5,"global":true,"custom":{}})",
        R"({"startTime":5,"global":true,"endTime":{}})"})
    CHECK_MESSAGE(f.Ask("DELETE", "/api/annotation/bulk", body).status == 400, body);
  for (const char* body : {R"({"startTime":0,"global":true,"totalDeleted":1})",
                           R"({"startTime":5,"tsuids":["1000001000001"]})"})
    CHECK_MESSAGE(f.Ask("DELETE", "/api/annotation/bulk", body).status == 200, body);
}

}  // namespace
}  // namespace hg::http
