#include <doctest/doctest.h>

#include <string>

#include "tests/http/api/api_fixture.h"
#include "tests/support/cpu_time.h"

namespace hg::http {
namespace {

void Post(ApiFixture& f, std::string_view body, int status, std::string_view reply) {
  Check(f, "POST", "/api/uid/assign", body, status, reply);
}

void Get(ApiFixture& f, std::string_view target, int status, std::string_view reply) {
  Check(f, "GET", target, "", status, reply);
}

TEST_CASE("assign returns the next ids, and reports names that already have one") {
  ApiFixture f;
  Get(f, "/api/uid/assign?metric=b,a,&tagk=k", 200,
      R"({"metric":{"a":"000002","b":"000001"},"tagk":{"k":"000001"}})");
  Get(f, "/api/uid/assign?metric=a,c", 400,
      R"({"metric":{"c":"000003"},"metric_errors":{"a":"Name already exists with UID: 000002"}})");
  Get(f, "/api/uid/assign?tagv=x,x", 400,
      R"({"tagv":{"x":"000001"},"tagv_errors":{"x":"Name already exists with UID: 000001"}})");
  Get(f, "/api/uid/assign?tagv=%C3%A9t%C3%A9", 200, R"({"tagv":{"été":"000002"}})");
  CHECK(f.Ask("GET", "/api/uid/assign?metric=,n").status == 400);
  CHECK(f.Ask("GET", "/api/uid/assign?metric=n1,,n2").status == 400);
  CHECK(f.Ask("GET", "/api/uid/assign?metric=n3,,").status == 200);
  Get(f, "/api/uid/assign?metric=,&tagv=zz", 200, R"({"tagv":{"zz":"000003"}})");
}

TEST_CASE("assign refuses illegal names one by one") {
  ApiFixture f;
  Get(f, "/api/uid/assign?metric=a%20b,good", 400,
      R"({"metric":{"good":"000001"},"metric_errors":{"a b":"Invalid metric (\"a b\"): illegal character:  "}})");
  Post(f, R"({"metric":[""]})", 400,
       R"({"metric":{},"metric_errors":{"":"Invalid metric: empty string"}})");
  f.options.extra_name_characters = " ";
  Get(f, "/api/uid/assign?metric=a%20b", 200, R"({"metric":{"a b":"000002"}})");
}

TEST_CASE("assign repeats the word of the type, known or not") {
  ApiFixture f;
  Post(f, R"({"METRIC":["m"]})", 200, R"({"METRIC":{"m":"000001"}})");
  Post(f, R"({"metrics":["n"]})", 400,
       R"({"metrics":{},"metrics_errors":{"n":"Unknown type name"}})");
  Post(f, R"({"metric":[12]})", 200, R"({"metric":{"12":"000002"}})");
  Post(f, R"({"metric":[]})", 200, R"({"metric":{}})");
}

TEST_CASE("assign without names, or with a body of another structure, is an error") {
  ApiFixture f;
  const std::string missing = R"({"error":{"code":400,"message":"Missing values to assign UIDs"}})";
  for (const char* target :
       {"/api/uid/assign", "/api/uid/assign?metric=", "/api/uid/assign?foo=bar"})
    Get(f, target, 400, missing);
  Post(f, "{}", 400, missing);
  for (const char* body : {"", "hello", R"(["a"])", R"({"metric":"a"})", R"({"metric":[["a"]]})"})
    CHECK_MESSAGE(f.Ask("POST", "/api/uid/assign", body).status == 400, body);
  for (const char* body : {"null", R"({"metric":null})", R"({"metric":[null]})"})
    CHECK_MESSAGE(f.Ask("POST", "/api/uid/assign", body).status == 500, body);
  CHECK(f.Ask("PUT", "/api/uid/assign?metric=a").status == 405);
  CHECK(f.Ask("GET", "/api/suggest?type=metrics").body == "[]");
}

TEST_CASE("rename changes a name and makes writers look up names again") {
  ApiFixture f;
  f.Ask("GET", "/api/uid/assign?metric=old,other&tagk=key");
  Get(f, "/api/uid/rename?metric=old&name=new", 200, R"({"result":"true"})");
  CHECK(f.sink.forgotten == 1);
  Get(f, "/api/suggest?type=metrics", 200, R"(["new","other"])");
  Get(f, "/api/uid/rename?metric=nope&name=x", 400,
      R"({"result":"false","error":"Name(\"nope\") does not exist"})");
  const BufferResponse taken = f.Ask("GET", "/api/uid/rename?metric=new&name=other");
  CHECK(taken.status == 400);
  CHECK(taken.body.starts_with(R"({"result":"false","error":")"));
  CHECK(f.Ask("GET", "/api/uid/rename?metric=new&name=new").status == 400);
  Get(f, "/api/uid/rename?metric=new&name=a%20b", 400,
      R"({"result":"false","error":"Invalid metric (\"a b\"): illegal character:  "})");
}

TEST_CASE("rename takes the last of several types") {
  ApiFixture f;
  f.Ask("GET", "/api/uid/assign?metric=m&tagk=k");
  Get(f, "/api/uid/rename?metric=m&tagk=k&name=twice", 200, R"({"result":"true"})");
  Get(f, "/api/suggest?type=tagk", 200, R"(["twice"])");
  Get(f, "/api/suggest?type=metrics", 200, R"(["m"])");
}

TEST_CASE("rename needs a type, an old and a new name") {
  ApiFixture f;
  const std::string missing =
      R"({"error":{"code":400,"message":"Missing necessary values to rename UID"}})";
  for (const char* query : {"", "?metric=a", "?name=b", "?metric=a&name=", "?foo=a&name=b"})
    Get(f, "/api/uid/rename" + std::string(query), 400, missing);
  for (const char* body : {"{}", R"({"metric":"a"})", R"({"name":"b"})"})
    Check(f, "POST", "/api/uid/rename", body, 400, missing);
  for (const char* body : {"", "[]", R"({"metric":["a"],"name":"b"})"})
    CHECK(f.Ask("POST", "/api/uid/rename", body).status == 400);
  CHECK(f.Ask("DELETE", "/api/uid/rename?metric=a&name=b").status == 405);
}

TEST_CASE("other uid paths do not exist") {
  ApiFixture f;
  for (const char* target : {"/api/uid", "/api/uid/", "/api/uid/nothing"})
    Get(f, target, 501,
        R"({"error":{"code":501,"message":"Other UID endpoints have not been implemented yet"}})");
}

TEST_CASE(
    "200,000 members of an assign request, or of metadata, take no time that anybody notices") {
  ApiFixture f;
  std::string types = "{", fields;
  for (int i = 0; i < 200'000; ++i) {
    const std::string name = "\"a" + std::to_string(i) + "\":";
    types += (i > 0 ? "," : "") + name + "[]";
    fields += (i > 0 ? "," : "") + name + "\"\"";
  }
  CHECK(CpuSecondsOf([&] { CHECK(f.Ask("POST", "/api/uid/assign", types + "}").status == 200); }) <
        10);  // it took minutes
  CHECK(CpuSecondsOf([&] {
          f.Ask("POST", "/api/uid/uidmeta",
                R"({"uid":"000001","type":"metric","custom":{)" + fields + "}}");
        }) < 10);
}

TEST_CASE("assign refuses a name that is too long by itself") {
  ApiFixture f;
  const std::string name(32768, 'x');
  const BufferResponse got =
      f.Ask("POST", "/api/uid/assign", R"({"tagk":["a",")" + name + R"("]})");
  CHECK(got.status == 400);
  CHECK(got.body.find(R"("tagk":{"a":"000001"})") != std::string::npos);
  CHECK(got.body.find("longer than 32767 characters") != std::string::npos);
}

}  // namespace
}  // namespace hg::http
