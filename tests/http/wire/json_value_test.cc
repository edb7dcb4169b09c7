#include "http/wire/json_value.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"

namespace hg::http {
namespace {

JsonValue Parsed(std::string_view text) {
  Result<JsonValue> value = ParseJson(text, nullptr);
  REQUIRE_MESSAGE(value.ok(), value.status().ToString());
  return std::move(*value);
}

TEST_CASE("a document is parsed to a tree in order of appearance") {
  const JsonValue root = Parsed(R"( {"a":[1,"x",true,null,{}],"b":{"c":"é"}} )");
  REQUIRE(root.is_object());
  REQUIRE(root.members.size() == 2);
  const JsonValue* a = root.Find("a");
  REQUIRE(a != nullptr);
  REQUIRE(a->items.size() == 5);
  CHECK(a->items[0].kind == JsonValue::Kind::kNumber);
  CHECK(a->items[1].text == "x");
  CHECK(a->items[2].AsBool() == true);
  CHECK(a->items[3].is_null());
  CHECK(a->items[4].is_object());
  CHECK(root.Find("b")->Find("c")->text == "é");
  CHECK(root.Find("z") == nullptr);
}

TEST_CASE("of equal keys the last one counts") {
  CHECK(Parsed(R"({"a":1,"a":2})").Find("a")->text == "2");
}

TEST_CASE(
    "empty texts and \"null\" are zero as numbers and false as booleans, and fractions are not "
    "booleans") {
  const JsonValue root = Parsed(R"(["","null",1.5,2])");
  CHECK(root.items[0].AsInt() == 0);
  CHECK(root.items[1].AsInt() == 0);
  CHECK(root.items[1].AsBool() == false);
  CHECK_FALSE(root.items[2].AsBool().has_value());
  CHECK(root.items[3].AsBool() == true);
}

TEST_CASE("booleans may be texts with a capital letter and surrounding blanks") {
  const JsonValue root = Parsed(R"([" true ","True","False","  ","TRUE","yes"])");
  CHECK(root.items[0].AsBool() == true);
  CHECK(root.items[1].AsBool() == true);
  CHECK(root.items[2].AsBool() == false);
  CHECK(root.items[3].AsBool() == false);
  CHECK_FALSE(root.items[4].AsBool().has_value());
  CHECK_FALSE(root.items[5].AsBool().has_value());
}

TEST_CASE("a single value is accepted in place of an object with one member, if its kind fits") {
  const auto one = [](const char* text, JsonValue::Kind kind) {
    return ObjectOfOne(Parsed(text), kind, "a");
  };
  CHECK(one("5", JsonValue::Kind::kNumber).Find("a")->text == "5");
  CHECK(one(R"("x")", JsonValue::Kind::kString).Find("a")->text == "x");
  CHECK_FALSE(one("1.5", JsonValue::Kind::kNumber).is_object());
  CHECK_FALSE(one("5", JsonValue::Kind::kString).is_object());
}

TEST_CASE("numbers keep the text of their token") {
  const JsonValue root = Parsed(R"([1.50,-0,1e300,12345678901234567890])");
  CHECK(root.items[0].text == "1.50");
  CHECK(root.items[1].text == "-0");
  CHECK(root.items[2].text == "1e300");
  CHECK(root.items[3].text == "12345678901234567890");
}

TEST_CASE("numbers beyond the range of a double keep their text, whatever stands around them") {
  const std::string digits(400, '9');
  const JsonValue root = Parsed(R"({"a\\":[1,-1e400,"2e999\"",NaN,-Infinity],"3":0e400,"b":)" +
                                digits + R"(,"c":{"d":1e99999999999,"e":7}, "f" : 0.5E+310 } 1e)");
  const JsonValue& list = *root.Find("a\\");
  CHECK(list.items[0].text == "1");
  CHECK(list.items[1].text == "-1e400");
  CHECK(*list.items[1].AsDouble() == -HUGE_VAL);
  CHECK(list.items[2].text == "2e999\"");
  CHECK(list.items[4].text == "-Infinity");
  CHECK(root.Find("3")->text == "0e400");
  CHECK(*root.Find("3")->AsDouble() == 0);
  CHECK(root.Find("b")->text == digits);
  CHECK_FALSE(root.Find("b")->AsInt());
  CHECK(root.Find("c")->Find("d")->text == "1e99999999999");
  CHECK(*root.Find("c")->Find("e")->AsInt() == 7);
  CHECK(root.Find("f")->text == "0.5E+310");
  CHECK(Parsed("1e400").text == "1e400");
}

TEST_CASE("next to a number out of range, invalid JSON is refused with its position") {
  for (const char* text : {"[1e400,01]", "[1e400,1.]", "[1e400,1e]", "[1e400,-]", "[1e400,+1]"}) {
    CAPTURE(text);
    const auto parsed = ParseJson(text, nullptr);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.status().message().find("at byte ") != std::string::npos);
  }
}

TEST_CASE("NaN and infinities without quotes are numbers") {
  const JsonValue root = Parsed("[NaN,Infinity,-Infinity]");
  REQUIRE(root.items.size() == 3);
  CHECK(std::isnan(*root.items[0].AsDouble()));
  CHECK(*root.items[1].AsDouble() == HUGE_VAL);
  CHECK(*root.items[2].AsDouble() == -HUGE_VAL);
}

TEST_CASE("text after the first value is ignored") {
  CHECK(Parsed("{\"a\":1} trailing").Find("a")->text == "1");
}

TEST_CASE("integers are read from numbers and from strings") {
  const JsonValue root =
      Parsed(R"([5,"5","+5",-7,1.9,"1.9","x",9223372036854775807,9223372036854775808,true,null])");
  CHECK(root.items[0].AsInt() == 5);
  CHECK(root.items[1].AsInt() == 5);
  CHECK(root.items[2].AsInt() == 5);
  CHECK(root.items[3].AsInt() == -7);
  CHECK(root.items[4].AsInt() == 1);
  CHECK_FALSE(root.items[5].AsInt().has_value());
  CHECK_FALSE(root.items[6].AsInt().has_value());
  CHECK(root.items[7].AsInt() == INT64_MAX);
  CHECK_FALSE(root.items[8].AsInt().has_value());
  CHECK_FALSE(root.items[9].AsInt().has_value());
  CHECK_FALSE(root.items[10].AsInt().has_value());
}

TEST_CASE("doubles out of range are infinite or zero, and words are not numbers") {
  const JsonValue root = Parsed(R"(["1e400","1e-400","2.5","inf","nan",""])");
  CHECK(*root.items[0].AsDouble() == HUGE_VAL);
  CHECK(*root.items[1].AsDouble() == 0);
  CHECK(*root.items[2].AsDouble() == 2.5);
  CHECK_FALSE(root.items[3].AsDouble().has_value());
  CHECK_FALSE(root.items[4].AsDouble().has_value());
  CHECK_FALSE(root.items[5].AsDouble().has_value());
}

TEST_CASE("invalid JSON is refused with its position") {
  for (const char* text :
       {"", "hello", "{", "[1,]", "{'a':1}", "{\"a\":1,}", "{\"a\" 1}", "// x\n1"}) {
    CAPTURE(text);
    const Result<JsonValue> value = ParseJson(text, nullptr);
    REQUIRE_FALSE(value.ok());
    CHECK(value.status().code() == StatusCode::kInvalidArgument);
    CHECK(value.status().message().find("at byte") != std::string_view::npos);
  }
}

TEST_CASE("invalid UTF-8 becomes the replacement character, in keys too") {
  const std::string sign = "\xEF\xBF\xBD";
  const Result<JsonValue> value = ParseJson(
      "{\"a\xFF\":\"x\xC3(y\",\"low\":\"\\udc00!\",\"good\":\"\xC3\xA9\\ud83d\\ude00\"}", nullptr);
  REQUIRE(value.ok());
  CHECK(value->members[0].name == "a" + sign);
  CHECK(value->members[0].value.text == "x" + sign + "(y");
  CHECK(value->members[1].value.text == sign + sign + sign + "!");
  CHECK(value->members[2].value.text == "\xC3\xA9\xF0\x9F\x98\x80");
}

TEST_CASE("the nesting depth is limited") {
  const std::string open(kJsonDepthMax, '['), close(kJsonDepthMax, ']');
  CHECK(ParseJson(open + close, nullptr).ok());
  const Result<JsonValue> deeper = ParseJson("[" + open + close + "]", nullptr);
  REQUIRE_FALSE(deeper.ok());
  CHECK(deeper.status().message().find("nested deeper than 128") != std::string_view::npos);
  CHECK_FALSE(ParseJson(std::string(1 << 20, '['), nullptr).ok());
}

TEST_CASE("of members with equal names the last one counts, at its position") {
  const Result<JsonValue> value = ParseJson(R"({"b":1,"a":2,"b":3,"c":4,"a":5})", nullptr);
  REQUIRE(value.ok());
  std::string shown;
  const auto members = value->LastMembers(unlimited);
  REQUIRE(members.ok());
  for (const JsonMember* member : *members) shown += member->name + "=" + member->value.text + " ";
  CHECK(shown == "b=3 c=4 a=5 ");
}

TEST_CASE("the last members of each name are found without comparing all pairs") {
  JsonValue object;
  object.kind = JsonValue::Kind::kObject;
  for (int i = 0; i < 200'000; ++i)
    object.members.push_back({"a" + std::to_string(i % 150'000), JsonValue()});
  CHECK(CpuSecondsOf([&] { CHECK(object.LastMembers(unlimited)->size() == 150'000); }) <
        5);  // 10^10 comparisons take far longer
  FakeWatch hasty;
  hasty.steps_max = 10'000;
  CHECK(object.LastMembers(hasty).status().code() == StatusCode::kDeadlineExceeded);
  FakeWatch poor;
  poor.bytes_max = 2 << 20;
  CHECK(object.LastMembers(poor).status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("the limits of a request are checked while a document of many values is parsed") {
  std::string text = "[0";
  for (int i = 0; i < 100'000; ++i) text += ",0";
  text += "]";
  FakeWatch ended;
  ended.checks_max = 1;
  CHECK(ParseJson(text, nullptr, ended).status().code() == StatusCode::kDeadlineExceeded);
  CHECK(ended.checks == 2);
}

}  // namespace
}  // namespace hg::http
