// /api/uid/uidmeta and /api/uid/tsmeta.
#include <doctest/doctest.h>

#include <string>

#include "http/wire/json_value.h"
#include "http/wire/metadata_json.h"
#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

std::string Id(const std::string& id, const std::string& type, const std::string& name,
               const std::string& display_name = "", const std::string& notes = "\"\"") {
  return R"({"uid":")" + id + R"(","type":")" + type + R"(","name":")" + name +
         R"(","description":"","notes":)" + notes +
         R"(,"created":0,"custom":null,"displayName":")" + display_name + "\"}";
}

struct Metadata : ApiFixture {
  Metadata() { AddSeries("room.temp", {{"host", "a"}}); }

  void Check(std::string_view method, const std::string& target, std::string_view body, int status,
             const std::string& reply) {
    CAPTURE(method);
    CAPTURE(target);
    CAPTURE(body);
    const BufferResponse got = Ask(method, "/api/uid/" + target, body);
    CHECK(got.status == status);
    CHECK(got.body == reply);
  }
  int StatusOf(std::string_view method, const std::string& target, std::string_view body = {}) {
    return Ask(method, "/api/uid/" + target, body).status;
  }
};

TEST_CASE("uidmeta refuses invalid requests with OpenTSDB's errors") {
  Metadata f;
  f.Check(
      "GET", "uidmeta?uid=000063&type=metric", "", 404,
      R"({"error":{"code":404,"message":"Could not find the requested UID","details":"No such unique ID for 'metrics': [0, 0, 99]"}})");
  f.Check("GET", "uidmeta?type=metric", "", 400,
          R"({"error":{"code":400,"message":"Missing parameter <code>uid</code>"}})");
  f.Check("GET", "uidmeta?uid=000001", "", 400,
          R"({"error":{"code":400,"message":"Missing parameter <code>type</code>"}})");
  f.Check("POST", "uidmeta", R"({"type":"metric","notes":"x"})", 400,
          R"({"error":{"code":400,"message":"Missing UID","details":"Missing UID"}})");
  f.Check("POST", "uidmeta", R"({"uid":"000001","notes":"x"})", 400,
          R"({"error":{"code":400,"message":"Missing type","details":"Missing type"}})");
  CHECK(f.StatusOf("GET", "uidmeta?uid=000001&type=foo") == 500);
  CHECK(f.StatusOf("POST", "uidmeta", R"({"uid":"000063","type":"metric"})") == 304);
  CHECK(f.StatusOf("GET", "uidmeta?uid=000001&type=metric&created=5&method_override=post") == 304);
  CHECK(f.StatusOf("PATCH", "uidmeta") == 405);
}

const std::string kTsuid = "000001000001000001";

std::string Series(const std::string& display_name, const std::string& units = "",
                   const std::string& max = "\"NaN\"") {
  return R"({"tsuid":")" + kTsuid + R"(","metric":)" + Id("000001", "METRIC", "room.temp") +
         R"(,"tags":[)" + Id("000001", "TAGK", "host") + "," + Id("000001", "TAGV", "a") +
         R"(],"description":"","notes":"","created":0,"units":")" + units +
         R"(","retention":0,"max":)" + max + R"(,"min":"NaN","displayName":")" + display_name +
         R"(","dataType":"","lastReceived":1700010000,"totalDatapoints":0})";
}

TEST_CASE("tsmeta is created by metric and tags, changed by TSUID and then found") {
  Metadata f;
  const std::string missing =
      R"({"error":{"code":400,"message":"Could not find TSMeta, specify \"create=true\" to create a new one."}})";
  f.Check("GET", "tsmeta?tsuid=" + kTsuid, "", 404,
          R"({"error":{"code":404,"message":"Could not find Timeseries meta data"}})");
  f.Check("POST", "tsmeta?m=room.temp{host=a}", R"({"displayName":"T"})", 400, missing);
  // The store's own clock sets the time of the counter; only its second is shown.
  const BufferResponse made =
      f.Ask("POST", "/api/uid/tsmeta?m=room.temp{host=a}&create=true", R"({"displayName":"T"})");
  CHECK(made.status == 200);
  CHECK(made.body == Series("T"));
  f.Check("POST", "tsmeta", R"({"tsuid":"000001000001000001","units":"C","max":1e2})", 200,
          Series("T", "C", "100.0"));
  f.Check("GET", "tsmeta?m=room.temp", "", 200, "[" + Series("T", "C", "100.0") + "]");
  f.Check("GET", "tsmeta?m=room.temp{host=a}", "", 200, "[" + Series("T", "C", "100.0") + "]");
}

TEST_CASE("custom fields are copied until they are too long for metadata, and are then refused") {
  std::string custom;
  for (int i = 0; i < 100'000; ++i)
    custom += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
  custom = R"("custom":{)" + custom + "}}";
  const Result<JsonValue> body = ParseJson("{" + custom, nullptr);
  REQUIRE(body.ok());
  for (const size_t fields :
       {ReadUidMeta(*body)->fields.custom->size(), ReadTsMeta(*body)->fields.custom->size()}) {
    CHECK(fields > 10'000);
    CHECK(fields < 20'000);
  }
  Metadata f;
  CHECK(f.StatusOf("POST", "uidmeta", R"({"uid":"000001","type":"metric",)" + custom) == 413);
  CHECK(f.StatusOf("POST", "tsmeta?m=room.temp{host=a}&create=true", "{" + custom) == 413);
}

TEST_CASE("tsmeta accepts the same tag twice, and refuses two values of a tag key") {
  Metadata f;
  f.AddSeries("room.hum", {{"host", "b"}});
  REQUIRE(f.StatusOf("POST", "tsmeta?m=room.temp{host=a,host=a}&create=true", "{}") == 200);
  f.Check("GET", "tsmeta?m=room.temp{host=a,host=a}", "", 200, "[" + Series("") + "]");
  const std::string message = "When parsing tag 'host=b': duplicate tag: host=b";
  f.Check("POST", "tsmeta?m=room.temp{host=a,host=b}&create=true", "{}", 400,
          R"({"error":{"code":400,"message":")" + message + R"(","details":")" + message + "\"}}");
}

TEST_CASE("tsmeta refuses invalid requests with OpenTSDB's errors") {
  Metadata f;
  const auto error = [](int code, const std::string& message, bool twice) {
    return R"({"error":{"code":)" + std::to_string(code) + R"(,"message":")" + message + "\"" +
           (twice ? R"(,"details":")" + message + "\"" : "") + "}}";
  };
  f.Check("GET", "tsmeta", "", 400, error(400, "Missing parameter <code>m</code>", false));
  f.Check(
      "GET", "tsmeta?m=nope", "", 404,
      R"({"error":{"code":404,"message":"Unable to find one of the UIDs","details":"No such name for 'metrics': 'nope'"}})");
  f.Check("GET", "tsmeta?m=room.temp{nope=a}", "", 400,
          error(400, "No such name for 'tagk': 'nope'", true));
  f.Check("POST", "tsmeta", R"({"tsuid":"00","notes":"x"})", 400,
          error(400, "TSUID is too short, may be missing tags", true));
  f.Check("POST", "tsmeta", R"({"tsuid":"000001000001000001","notes":"x"})", 400,
          error(400, "Requested TSMeta did not exist", true));
  f.Check("POST", "tsmeta", R"({"tsuid":"000001000001000001"})", 304, "");
  f.Check("POST", "tsmeta", R"("000001000001000001")", 304, "");  // a single text is the TSUID
  f.Check("GET", "tsmeta?tsuid=" + kTsuid + "&retention=x&method_override=post", "", 400,
          error(400, "Unable to parse 'retention' value", false));
  f.Check(
      "DELETE", "tsmeta", "", 400,
      R"({"error":{"code":400,"message":"Unable to delete TSMeta information","details":"Missing UID"}})");
  CHECK(f.StatusOf("GET", "tsmeta?tsuid=&method_override=get") == 500);
  CHECK(f.StatusOf("GET", "tsmeta?m={host=a}") == 500);
  CHECK(f.StatusOf("POST", "tsmeta?m={host=a}", R"({"notes":"x"})") == 500);
  CHECK(f.StatusOf("GET", "tsmeta?m={dc=,host=*}") == 400);  // tags are checked first
  CHECK(f.StatusOf("GET", "tsmeta?m=room.temp{nope=a,=b}") == 400);
  CHECK(f.StatusOf("POST", "tsmeta?m=room.temp{nope=a,=b}", R"({"notes":"x"})") == 400);
  CHECK(f.StatusOf("GET", "tsmeta?tsuid=0000") == 404);
  CHECK(f.StatusOf("GET", "tsmeta?m=room.temp{host=*}") == 400);
  for (const char* body : {"1", R"({"retention":"x"})", R"({"max":"many"})"})
    CHECK_MESSAGE(f.StatusOf("POST", "tsmeta", body) == 400, body);
  CHECK(f.StatusOf("PATCH", "tsmeta") == 405);
  CHECK(f.StatusOf("POST", "tsmeta?m=room.temp{host=nope}&create=true", R"({"notes":"x"})") == 500);
  // A callback without a name is a client error in requests that write.
  CHECK(f.StatusOf("GET", "uidmeta?uid=000001&type=metric&jsonp=") == 500);
  CHECK(f.StatusOf("POST", "uidmeta?jsonp=", R"({"uid":"000001","type":"metric","notes":"x"})") ==
        400);
}

}  // namespace
}  // namespace hg::http
