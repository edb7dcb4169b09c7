#include "http/wire/annotation_json.h"

#include <doctest/doctest.h>

#include <string>

namespace hg::http {
namespace {

std::string Written(const codec::Annotation& annotation) {
  std::string out;
  JsonWriter json(&out);
  WriteAnnotation(annotation, &json);
  return out;
}

Result<codec::Annotation> Read(std::string_view text) {
  const Result<JsonValue> value = ParseJson(text, nullptr);
  REQUIRE(value.ok());
  return ReadAnnotation(*value);
}

TEST_CASE("an annotation shows all fields except a null custom") {
  codec::Annotation annotation;
  annotation.start_time = 1712000000;
  CHECK(Written(annotation) ==
        R"({"tsuid":"","description":"","notes":"","startTime":1712000000,"endTime":0})");
  annotation.tsuid = "000001000001000001";
  annotation.description = "pump \"off\"";
  auto& custom = annotation.custom.emplace();
  custom["owner"] = "ops";
  custom["dept"] = "x";
  annotation.end_time = 1712000300;
  CHECK(Written(annotation) ==
        R"({"tsuid":"000001000001000001","description":"pump \"off\"","notes":"",)"
        R"("custom":{"owner":"ops","dept":"x"},"startTime":1712000000,"endTime":1712000300})");
}

TEST_CASE("custom fields are copied until they are too long for an annotation") {
  std::string body = R"({"startTime":1700000141,"custom":{)";
  for (int i = 0; i < 100'000; ++i) body += '"' + std::to_string(i) + "\":0,";
  const auto annotation = Read(body + R"("last":{}}})");  // the wrong value is not reached
  REQUIRE(annotation.ok());
  CHECK(annotation->custom->size() > 10'000);
  CHECK(annotation->custom->size() < 20'000);
}

TEST_CASE("times may be strings, and custom values anything except objects and arrays") {
  const auto annotation =
      Read(R"({"startTime":"1700000141","tsuid":null,"custom":{"k":5,"b":true},"unknown":[1]})");
  REQUIRE(annotation.ok());
  CHECK(annotation->start_time == 1700000141);
  CHECK(annotation->tsuid.empty());
  CHECK(annotation->custom->at("k") == "5");
  CHECK(annotation->custom->at("b") == "true");
}

TEST_CASE("a field of the wrong type is refused by name") {
  CHECK(Read(R"({"startTime":"now"})").status().message().find("startTime") !=
        std::string_view::npos);
  CHECK(Read(R"({"custom":"x"})").status().message().find("custom") != std::string_view::npos);
  CHECK(Read(R"({"description":{}})").status().message().find("description") !=
        std::string_view::npos);
  CHECK_FALSE(Read("[]").ok());
}

}  // namespace
}  // namespace hg::http
