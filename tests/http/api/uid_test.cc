#include <doctest/doctest.h>

#include <string>

#include "tests/http/api/api_fixture.h"
#include "tests/support/cpu_time.h"

namespace hg::http {
namespace {

void Get(ApiFixture& f, std::string_view target, int status, std::string_view reply) {
  Check(f, "GET", target, "", status, reply);
}

TEST_CASE("assign skips an empty name at the end, and refuses one before another name") {
  ApiFixture f;
  CHECK(f.Ask("GET", "/api/uid/assign?metric=,n").status == 400);
  CHECK(f.Ask("GET", "/api/uid/assign?metric=n1,,n2").status == 400);
  CHECK(f.Ask("GET", "/api/uid/assign?metric=n3,,").status == 200);
  Get(f, "/api/uid/assign?metric=,&tagv=zz", 200, R"({"tagv":{"zz":"000001"}})");
}

TEST_CASE("assign accepts the extra characters of names") {
  ApiFixture f;
  f.options.extra_name_characters = " ";
  Get(f, "/api/uid/assign?metric=a%20b", 200, R"({"metric":{"a b":"000001"}})");
}

TEST_CASE("assign without names, or with a body of another structure, is an error") {
  ApiFixture f;
  const std::string missing = R"({"error":{"code":400,"message":"Missing values to assign UIDs"}})";
  Get(f, "/api/uid/assign", 400, missing);
  Check(f, "POST", "/api/uid/assign", "{}", 400, missing);
  for (const char* body : {"null", R"({"metric":null})", R"({"metric":[null]})"})
    CHECK_MESSAGE(f.Ask("POST", "/api/uid/assign", body).status == 500, body);
  CHECK(f.Ask("GET", "/api/suggest?type=metrics").body == "[]");
}

TEST_CASE("rename changes a name and makes writers look up names again") {
  ApiFixture f;
  f.Ask("GET", "/api/uid/assign?metric=old,other&tagk=key");
  Get(f, "/api/uid/rename?metric=old&name=new", 200, R"({"result":"true"})");
  CHECK(f.sink.forgotten == 1);
  Get(f, "/api/suggest?type=metrics", 200, R"(["new","other"])");
}

TEST_CASE("rename needs a type, an old and a new name") {
  ApiFixture f;
  const std::string missing =
      R"({"error":{"code":400,"message":"Missing necessary values to rename UID"}})";
  Get(f, "/api/uid/rename", 400, missing);
  Check(f, "POST", "/api/uid/rename", "{}", 400, missing);
}

TEST_CASE("other uid paths do not exist") {
  ApiFixture f;
  for (const char* target : {"/api/uid", "/api/uid/", "/api/uid/nothing"})
    Get(f, target, 501,
        R"({"error":{"code":501,"message":"Other UID endpoints have not been implemented yet"}})");
}

TEST_CASE(
    "200,000 members of an assign request, or of metadata, are processed without comparing "
    "all pairs") {
  ApiFixture f;
  std::string types = "{", fields;
  for (int i = 0; i < 200'000; ++i) {
    const std::string name = "\"a" + std::to_string(i) + "\":";
    types += (i > 0 ? "," : "") + name + "[]";
    fields += (i > 0 ? "," : "") + name + "\"\"";
  }
  CHECK(CpuSecondsOf([&] { CHECK(f.Ask("POST", "/api/uid/assign", types + "}").status == 200); }) <
        10);  // comparing all pairs takes minutes
  CHECK(CpuSecondsOf([&] {
          f.Ask("POST", "/api/uid/uidmeta",
                R"({"uid":"000001","type":"metric","custom":{)" + fields + "}}");
        }) < 10);
}

TEST_CASE("assign refuses a name that is too long, and assigns ids to the other names") {
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
