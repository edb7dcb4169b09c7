#include "storage/model/number_text.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "tests/storage/model/printed_numbers.h"

namespace hg {
namespace {

using Limits = std::numeric_limits<double>;

PointValue Parsed(std::string_view text, EntryPath path) {
  PointValue value;
  NumberError error;
  CAPTURE(text);
  CAPTURE(error.message);
  REQUIRE(ParseValue(text, path, &value, &error));
  return value;
}

TEST_CASE("integer text is stored as the shortest integer on every path") {
  const struct {
    const char* text;
    int64_t value;
    uint8_t flags;
  } vectors[] = {
      {"42", 42, kInt8},
      {"+42", 42, kInt8},
      {"-7", -7, kInt8},
      {"007", 7, kInt8},
      {"-0", 0, kInt8},
      {"128", 128, kInt16},
      {"-32769", -32769, kInt32},
      {"2147483648", 2147483648, kInt64},
      {"0000000000000000001", 1, kInt8},
      {"9223372036854775807", INT64_MAX, kInt64},
      {"+9223372036854775807", INT64_MAX, kInt64},
      {"-9223372036854775808", INT64_MIN, kInt64},
  };
  for (const auto& v : vectors) {
    for (EntryPath path : {EntryPath::kTelnet, EntryPath::kHttp, EntryPath::kImport}) {
      const PointValue value = Parsed(v.text, path);
      CHECK(value.as_int() == v.value);
      CHECK(value.flags == v.flags);
    }
  }
}

TEST_CASE(
    "other text is a float on telnet if exact, always a double over HTTP, and always a float in "
    "imports") {
  const struct {
    const char* text;
    double value;
    bool exact_single;
  } vectors[] = {
      {"4.2", 4.2, false},
      {"42.5", 42.5, true},
      {"-0.0", -0.0, true},
      {"1e3", 1000, true},
      {"1E3", 1000, true},
      {"1.", 1, true},
      {".5", 0.5, true},
      {"-.5", -0.5, true},
      {"+1.5", 1.5, true},
      {"1.5f", 1.5, true},
      {"1.5F", 1.5, true},
      {"1.5d", 1.5, true},
      {"1.5D", 1.5, true},
      {"1e2d", 100, true},
      {" 4.25", 4.25, true},
      {"4.25 ", 4.25, true},
      {"\t4.25\n", 4.25, true},
      {"0x1.8p1", 3, true},
      {"0X1.8P+1", 3, true},
      {"-0x.8p0", -0.5, true},
      {"0x1ep0", 30, true},
      {"0x1.8p1f", 3, true},
      {"16777217.0", 16777217, false},
      {"3.14159265358979", 3.14159265358979, false},
      {"1e-400", 0, true},
      {"1e38", 1e38, false},
      {"4.9e-324", Limits::denorm_min(), false},
      {"0.000000000000000000000000000000000000000000000000000000000000000000001e60", 1e-9, false},
  };
  for (const auto& v : vectors) {
    CAPTURE(v.text);
    const PointValue http = Parsed(v.text, EntryPath::kHttp);
    CHECK(http == PointValue::Double(v.value));
    const PointValue telnet = Parsed(v.text, EntryPath::kTelnet);
    CHECK(telnet == (v.exact_single ? PointValue::Float(static_cast<float>(v.value))
                                    : PointValue::Double(v.value)));
    const PointValue imported = Parsed(v.text, EntryPath::kImport);
    CHECK(imported == PointValue::Float(static_cast<float>(v.value)));
  }
}

TEST_CASE("an import rounds once, from text to float") {
  // Slightly above the middle between two floats, by less than a double can represent: converted
  // through a double it would be rounded down to even.
  const PointValue value = Parsed("1.00000005960464477539062500000000000001", EntryPath::kImport);
  CHECK(value == PointValue::Float(std::bit_cast<float>(0x3F800001)));
}

TEST_CASE("refused text has OpenTSDB's error") {
  const struct {
    const char* text;
    NumberFault fault;
    const char* message;
  } vectors[] = {
      {"", NumberFault::kEmpty, "Empty string"},
      {"-", NumberFault::kSignOnly, "Just a sign, no value: -"},
      {"+", NumberFault::kSignOnly, "Just a sign, no value: +"},
      {"1,5", NumberFault::kIllegalCharacter, "Invalid character ',' in 1,5"},
      {"abc", NumberFault::kIllegalCharacter, "Invalid character 'a' in abc"},
      {"1 2", NumberFault::kIllegalCharacter, "Invalid character ' ' in 1 2"},
      {" 42", NumberFault::kIllegalCharacter, "Invalid character ' ' in  42"},
      {"0x10", NumberFault::kIllegalCharacter, "Invalid character 'x' in 0x10"},
      {"2d", NumberFault::kIllegalCharacter, "Invalid character 'd' in 2d"},
      {"1_0", NumberFault::kIllegalCharacter, "Invalid character '_' in 1_0"},
      {"--1", NumberFault::kIllegalCharacter, "Invalid character '-' in --1"},
      {"NaN", NumberFault::kIllegalCharacter, "Invalid character 'N' in NaN"},
      {"Infinity", NumberFault::kIllegalCharacter, "Invalid character 'I' in Infinity"},
      {"inf", NumberFault::kIllegalCharacter, "Invalid character 'i' in inf"},
      {"true", NumberFault::kNotANumber, "For input string: \"true\""},
      {"9223372036854775808", NumberFault::kOverflow, "Overflow in 9223372036854775808"},
      {"9999999999999999999", NumberFault::kOverflow, "Overflow in 9999999999999999999"},
      {"-9223372036854775809", NumberFault::kOverflow, "Overflow in -9223372036854775809"},
      {"00000000000000000001", NumberFault::kTooLong, "Value too long: 00000000000000000001"},
      {"+00000000000000000001", NumberFault::kTooLong, "Value too long: +00000000000000000001"},
      {"1.x", NumberFault::kNotANumber, "For input string: \"1.x\""},
      {".", NumberFault::kNotANumber, "For input string: \".\""},
      {"e", NumberFault::kNotANumber, "For input string: \"e\""},
      {"1e", NumberFault::kNotANumber, "For input string: \"1e\""},
      {"1e+", NumberFault::kNotANumber, "For input string: \"1e+\""},
      {"1.5ff", NumberFault::kNotANumber, "For input string: \"1.5ff\""},
      {"1.5 f", NumberFault::kNotANumber, "For input string: \"1.5 f\""},
      {"1.2.3", NumberFault::kNotANumber, "multiple points"},
      {"0x1.8", NumberFault::kNotANumber, "For input string: \"0x1.8\""},
      {"0x.p1", NumberFault::kNotANumber, "For input string: \"0x.p1\""},
      {"- 1.5", NumberFault::kNotANumber, "For input string: \"- 1.5\""},
      {"1e400", NumberFault::kNotFinite, "Infinity"},
      {"-1e400", NumberFault::kNotFinite, "-Infinity"},
      {"0x1p2000.", NumberFault::kNotANumber, "For input string: \"0x1p2000.\""},
      {"0x1.p2000", NumberFault::kNotFinite, "Infinity"},
  };
  for (const auto& v : vectors) {
    CAPTURE(v.text);
    PointValue value = PointValue::Int(77);
    NumberError error;
    CHECK_FALSE(ParseValue(v.text, EntryPath::kTelnet, &value, &error));
    CHECK(error.fault == v.fault);
    CHECK(error.message == v.message);
    CHECK(value == PointValue::Int(77));
  }
}

TEST_CASE("the range of a float ends before that of a double") {
  PointValue value;
  NumberError error;
  CHECK_FALSE(ParseValue("1e39", EntryPath::kImport, &value, &error));
  CHECK(error.fault == NumberFault::kNotFinite);
  CHECK(Parsed("1e39", EntryPath::kTelnet) == PointValue::Double(1e39));
  CHECK(Parsed("3.4028234663852886E38", EntryPath::kTelnet) ==
        PointValue::Float(3.4028234663852886E38F));
}

TEST_CASE("telnet times drop their dots and are then integers") {
  const struct {
    const char* text;
    int64_t time;
  } vectors[] = {
      {"1712000000", 1712000000},
      {"+1712000000", 1712000000},
      {"0001712000000", 1712000000},
      {"1712000000.123", 1712000000123},
      {"1712000000.1", 17120000001},
      {"17.12.", 1712},
      {"-5", -5},
  };
  for (const auto& v : vectors) {
    int64_t time = 0;
    NumberError error;
    CHECK(ParseTelnetTime(v.text, &time, &error));
    CHECK(time == v.time);
  }
  int64_t time = 9;
  NumberError error;
  CHECK_FALSE(ParseTelnetTime("x", &time, &error));
  CHECK(error.message == "Invalid character 'x' in x");
  CHECK_FALSE(ParseTelnetTime(".", &time, &error));
  CHECK(error.message == "Empty string");
  CHECK(time == 9);
}

TEST_CASE("doubles are printed as in Java (opentsdb-http-api.md §B)") {
  CheckPrinted<double>(AppendJavaDouble, {
                                             {0.0, "0.0"},
                                             {-0.0, "-0.0"},
                                             {0.001, "0.001"},
                                             {0.0011, "0.0011"},
                                             {21, "21.0"},
                                             {-1.5, "-1.5"},
                                             {100, "100.0"},
                                             {9999999.0, "9999999.0"},
                                             {1234567.125, "1234567.125"},
                                             {1e7, "1.0E7"},
                                             {12345678.9, "1.23456789E7"},
                                             {1e-4, "1.0E-4"},
                                             {0.00099, "9.9E-4"},
                                             {1e21, "1.0E21"},
                                             {1.7976931348623157E308, "1.7976931348623157E308"},
                                             {4.9e-324, "4.9E-324"},
                                             {9007199254740992.0, "9.007199254740992E15"},
                                             // Longer than necessary, as JVMs print it.
                                             {9.22337203685471E17, "9.2233720368547098E17"},
                                             {1e18, "1.0E18"},
                                             {-9.223372036854774784E18, "-9.2233720368547748E18"},
                                             {0.1, "0.1"},
                                             {1.0 / 3, "0.3333333333333333"},
                                             {Limits::quiet_NaN(), "NaN"},
                                             {Limits::infinity(), "Infinity"},
                                             {-Limits::infinity(), "-Infinity"},
                                             {static_cast<double>(4.2F), "4.199999809265137"},
                                         });
}

TEST_CASE("printed numbers are parsed to the same number") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const auto v = std::bit_cast<double>(random());
    if (!std::isfinite(v)) continue;
    double again;
    const std::string text = JavaDouble(v);
    CAPTURE(text);
    REQUIRE(ParseJavaDouble(text, &again));
    REQUIRE(std::bit_cast<uint64_t>(again) == std::bit_cast<uint64_t>(v));
    REQUIRE(std::strtod(text.c_str(), nullptr) == v);
  }
}

TEST_CASE("six decimals are rounded half up on the shortest digits") {
  CheckPrinted<double>(
      AppendFixed6,
      {
          {0, "0.000000"},
          {-0.0, "-0.000000"},
          {1.5, "1.500000"},
          {21, "21.000000"},
          {0.0000005, "0.000001"},
          {0.00000049, "0.000000"},
          {1e-10, "0.000000"},
          {0.1234565, "0.123457"},
          {9.9999995, "10.000000"},
          {0.9999999, "1.000000"},
          {1e21, "1000000000000000000000.000000"},
          {9007199254740994.0, "9007199254740994.000000"},
          {153722867280912930.0, "153722867280912928.000000"},  // as printed by a live OpenTSDB
          {1e18, "1000000000000000000.000000"},
          {4611686018427387904.0, "4611686018427387900.000000"},
          {123456.1234564, "123456.123456"},
          {-2.25, "-2.250000"},
          {0.05, "0.050000"},
          {Limits::quiet_NaN(), "NaN"},
      });
}

TEST_CASE("random bytes never crash the parser, and accepted ones give the value of strtod") {
  std::mt19937_64 random(11);
  constexpr char kLetters[] = "0123456789+-.eExXpPfFdD aN";
  for (int i = 0; i < 100000; ++i) {
    std::string text(random() % 12, ' ');
    for (char& c : text) c = kLetters[random() % (sizeof(kLetters) - 1)];
    double v;
    if (!ParseJavaDouble(text, &v)) continue;
    CAPTURE(text);
    REQUIRE(v == std::strtod(text.c_str(), nullptr));
  }
}

}  // namespace
}  // namespace hg
