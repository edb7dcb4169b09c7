#include "http/wire/influx_line.h"

#include <doctest/doctest.h>

#include <bit>

#include "http/wire/influx_lines.h"

namespace hg::http {
namespace {

/// Returns "measurement|k=v;k=v|name=value …|time|texts" for a line, or its error.
std::string Parsed(std::string_view line) {
  InfluxLine parts;
  if (const Status status = ParseInfluxLine(line, &parts); !status.ok())
    return std::string(status.message());
  std::string out = parts.measurement + "|";
  for (const auto& [key, value] : parts.tags) out += key + "=" + value + ";";
  out += "|";
  for (const InfluxField& field : parts.fields) {
    out += field.name + "=";
    out += field.value.is_float() ? std::to_string(field.value.as_double()) + "f"
                                  : std::to_string(field.value.as_int());
    out += ";";
  }
  out += "|" + (parts.time ? std::to_string(*parts.time) : std::string());
  if (parts.text_fields > 0) out += "|" + std::to_string(parts.text_fields);
  return out;
}

std::vector<std::string> Lines(std::string_view body) {
  std::vector<std::string> lines;
  InfluxLineReader reader(body);
  for (std::string_view line; reader.Next(&line);)
    if (!line.empty()) lines.push_back(std::to_string(reader.number()) + " " + std::string(line));
  return lines;
}

struct LineCase {
  const char* line;
  const char* outcome;
};

}  // namespace

// Because lines are returned one by one, the caller can end a request with very many comments.
TEST_CASE("empty lines and comments are returned one by one, as empty lines") {
  InfluxLineReader reader("# a\n\n  # b\n# c=\"\r\ncpu v=1\n#\n");
  std::vector<std::string> lines;
  for (std::string_view line; reader.Next(&line);) lines.emplace_back(line);
  CHECK(lines == std::vector<std::string>{"", "", "", "", "cpu v=1", ""});
  CHECK(reader.next_number() == 7);
}

TEST_CASE("a line has a measurement, tags, fields and a time") {
  const LineCase cases[] = {
      {"cpu,host=a,dc=x user=1i,idle=2.5 1700000000000000000",
       "cpu|host=a;dc=x;|user=1;idle=2.500000f;|1700000000000000000"},
      {"cpu v=1", "cpu||v=1.000000f;|"},
      {"cpu  v=1   5  ", "cpu||v=1.000000f;|5"},
      {"cpu v=1 -5", "cpu||v=1.000000f;|-5"},
      {"a.b-c,x.y=z/w v=1", "a.b-c|x.y=z/w;|v=1.000000f;|"},
  };
  for (const LineCase& c : cases) {
    CAPTURE(c.line);
    CHECK(Parsed(c.line) == c.outcome);
  }
}

TEST_CASE(
    "a backslash escapes commas, equals signs and blanks, and is literal before other characters") {
  const LineCase cases[] = {
      {R"(my\ cpu,a\=b=c\,d\ e v\ w=1i)", "my cpu|a=b=c,d e;|v w=1;|"},
      {R"(c:\dir,path=C:\x\y v=1i)", R"(c:\dir|path=C:\x\y;|v=1;|)"},
      {R"(a\\,b=c v=1i)", R"(a\,b=c||v=1;|)"},
      {R"(m,a=b\ v=1i)", R"(a second = in the tag "a": in a value it is written \=)"},
  };
  for (const LineCase& c : cases) {
    CAPTURE(c.line);
    CHECK(Parsed(c.line) == c.outcome);
  }
}

TEST_CASE("values are doubles, integers, booleans or texts") {
  const LineCase cases[] = {
      {"m v=-0i", "m||v=0;|"},
      {"m v=007i", "m||v=7;|"},
      {"m v=9223372036854775807i", "m||v=9223372036854775807;|"},
      {"m v=-9223372036854775808i", "m||v=-9223372036854775808;|"},
      {"m v=9223372036854775807u", "m||v=9223372036854775807;|"},
      {"m v=18446744073709551615u",
       "the field \"v\": \"18446744073709551615u\" is beyond the integers that are stored, "
       "-9223372036854775808 to 9223372036854775807"},
      {"m v=1e3", "m||v=1000.000000f;|"},
      {"m v=-1.5E+2", "m||v=-150.000000f;|"},
      {"m v=5.", "m||v=5.000000f;|"},
      {"m v=.5", "m||v=0.500000f;|"},
      {"m v=1e-400", "m||v=0.000000f;|"},
      {"m v=1e400", "the field \"v\": \"1e400\" is beyond the range of a double"},
      {"m a=t,b=True,c=F,d=false", "m||a=1;b=1;c=0;d=0;|"},
      {R"(m a="x",v=1i)", "m||v=1;||1"},
      {R"(m a="x, y=\"z\" \\",v=1i 7)", "m||v=1;|7|1"},
      {"m a=\"two\nlines\" 7", "m|||7|1"},
  };
  for (const LineCase& c : cases) {
    CAPTURE(c.line);
    CHECK(Parsed(c.line) == c.outcome);
  }
  for (const char* bad :
       {"1x", "i",   "u",   "-",   "-i",        "+1",   "1.5i", "1e3i", "--1",   "1..2", "1e",
        "e5", "NaN", "nan", "inf", "-Infinity", "0x10", "tru",  "-1u",  "1_000", "."}) {
    CAPTURE(bad);
    CHECK(Parsed("m v=" + std::string(bad)) ==
          "the field \"v\": \"" + std::string(bad) +
              "\" is neither a number nor true, false or a text in quotes");
  }
}

TEST_CASE("errors of a line are described") {
  const LineCase cases[] = {
      {"cpu", "the line has no fields"},
      {"cpu,a=b", "the line has no fields"},
      {",a=b v=1", "the line begins without a measurement"},
      {"cpu,a v=1", "the tag \"a\" has no value"},
      {"cpu,a= v=1", "the tag \"a\" has no value"},
      {"cpu,=b v=1", "a tag has no key"},
      {"cpu, v=1", "a tag has no key"},
      {"cpu,a=b,a=c v=1", "the tag \"a\" occurs twice"},
      {"cpu,a=b=c v=1", "a second = in the tag \"a\": in a value it is written \\="},
      {"cpu v", "the field \"v\" has no value"},
      {"cpu v=", "the field \"v\" has no value"},
      {"cpu v= 5", "the field \"v\" has no value"},
      {"cpu =1", "a field has no name"},
      {"cpu v=1,", "a field has no name"},
      {"cpu v=1i,v=2i", "the field \"v\" occurs twice"},
      {"cpu v=\"x", "the field \"v\" has a string value without a closing quote"},
      {"cpu v=\"x\"y 5", "behind the field \"v\": \"y 5\""},
      {"cpu v=1 5s", "\"5s\" is no time"},
      {"cpu v=1 5 6", "behind the time: \"6\""},
      {"cpu v=1 99999999999999999999", "\"99999999999999999999\" is no time"},
  };
  for (const LineCase& c : cases) {
    CAPTURE(c.line);
    CHECK(Parsed(c.line) == c.outcome);
  }
}

TEST_CASE("names longer than a row key, and series of too many bytes, are refused") {
  const std::string most(32767, 'a'), more = most + "a";
  const std::string shown = '"' + std::string(100, 'a') + "…\" has 32768 bytes, at most 32767";
  CHECK(Parsed(most + " v=1i") == most + "||v=1;|");
  CHECK(Parsed("m,k=" + most + " v=1i") == "m|k=" + most + ";|v=1;|");
  CHECK(Parsed("m " + most + "=1i") == "m||" + most + "=1;|");
  CHECK(Parsed(more + " v=1i") == "the measurement " + shown);
  CHECK(Parsed("m," + more + "=b v=1i") == "the tag key " + shown);
  CHECK(Parsed("m,k=" + more + " v=1i") == "the tag value " + shown);
  CHECK(Parsed("m " + more + "=1i") == "the field " + shown);
  CHECK(Parsed("m,a=" + most + ",b=" + std::string(32762, 'a') + " v=1i") ==
        "measurement and tags have 65536 bytes, at most 65535");
}

TEST_CASE("a line may have the maximum of fields and tags, and not one more, on both paths") {
  const auto list = [](const char* before, size_t count, const char* behind) {
    std::string text;
    for (size_t i = 0; i < count; ++i)
      text += (i > 0 ? "," : "") + (before + std::to_string(i)) + behind;
    return text;
  };
  InfluxLine parts;
  InfluxPoints points;
  const auto fast = [&points](const std::string& line) {
    return ParseInfluxLines(line, InfluxUnit::kNanosecond, Timestamp{1}, &points);
  };
  const std::string numbers = "m " + list("f", 4096, "=1i"),
                    mixed = "m " + list("t", 96, "=\"x\"") + "," + list("f", 4000, "=1i");
  for (const std::string& most : {numbers, mixed}) {
    CHECK(ParseInfluxLine(most, &parts).ok());
    CHECK(fast(most + "\n" + most));
    CHECK(Parsed(most + ",g=1i") == "more than 4096 fields");
    CHECK(Parsed(most + ",g=\"x\"") == "more than 4096 fields");
    CHECK_FALSE(fast(most + ",g=1i"));
    CHECK_FALSE(fast(most + ",g=\"x\""));
  }
  CHECK(Parsed(numbers.substr(0, numbers.rfind(',')) + ",f7=1i") ==
        "the field \"f7\" occurs twice");
  CHECK(ParseInfluxLine("m," + list("k", 256, "=v") + " f=1i", &parts).ok());
  CHECK(Parsed("m," + list("k", 257, "=v") + " f=1i") == "more than 256 tags");
}

TEST_CASE(
    "a body is split at line ends outside of texts, and comments and empty lines are skipped") {
  CHECK(Lines("").empty());
  CHECK(Lines("\n \n\r\n# cpu v=\"1\n").empty());
  CHECK(Lines("a v=1\nb v=2") == std::vector<std::string>{"1 a v=1", "2 b v=2"});
  CHECK(Lines("a v=1\r\n  b v=2\r\n") == std::vector<std::string>{"1 a v=1", "2 b v=2"});
  CHECK(Lines("a v=\"1\n\n2\" 5\nb v=2") ==
        std::vector<std::string>{"1 a v=\"1\n\n2\" 5", "4 b v=2"});
  CHECK(Lines("a v=\"\\\"\n\",w=1\nb v=2") ==
        std::vector<std::string>{"1 a v=\"\\\"\n\",w=1", "3 b v=2"});
  // Quotes are ordinary characters in names and in values of tags.
  CHECK(Lines("a,b=\"c v=1\nd v=\"2\"") ==
        std::vector<std::string>{"1 a,b=\"c v=1", "2 d v=\"2\""});
  CHECK(Lines("  a,b=\"c v=1\nd v=\"2\"") ==
        std::vector<std::string>{"1 a,b=\"c v=1", "2 d v=\"2\""});
}

TEST_CASE("also the fast path wants a blank between a text and the time") {
  InfluxPoints points;
  const auto fast = [&points](const std::string& line) {
    return ParseInfluxLines(line, InfluxUnit::kNanosecond, Timestamp{1}, &points);
  };
  for (const char* after : {" 1700000000000000000", ",w=2", "", "\n", "\r\n"}) {
    CAPTURE(after);
    CHECK(fast(std::string("m n=1,v=\"x\"") + after));
  }
  InfluxLine parts;
  for (const char* after : {"1", "1700000000000000000", "x", "\"y\"", "=1"}) {
    CAPTURE(after);
    const std::string line = std::string("m n=1,v=\"x\"") + after;
    CHECK_FALSE(fast(line));
    CHECK_FALSE(ParseInfluxLine(line, &parts).ok());
  }
}

TEST_CASE("a text without an end loses only its own line") {
  CHECK(Lines("a v=\"1\nb v=2\n") == std::vector<std::string>{"1 a v=\"1", "2 b v=2"});
}

TEST_CASE("times are truncated to milliseconds, and whole seconds are stored as seconds") {
  const struct {
    const char* precision;
    int64_t time, raw;
  } cases[] = {
      {"", 1700000000000000000, 1700000000},
      {"ns", 1700000000123999999, 1700000000123},
      {"n", 1000000000, 1},
      {"us", 1700000000123999, 1700000000123},
      {"u", 1700000000000000, 1700000000},
      {"µ", 1700000000000000, 1700000000},
      {"ms", 1700000000123, 1700000000123},
      {"s", 1700000000, 1700000000},
      {"m", 28333333, 1699999980},
      {"h", 472222, 1699999200},
      {"ns", 4294967295999999999, 4294967295999},
  };
  for (const auto& c : cases) {
    CAPTURE(c.precision);
    const auto unit = ParseInfluxUnit(c.precision);
    REQUIRE(unit);
    const auto time = InfluxTime(c.time, *unit);
    REQUIRE(time);
    CHECK(time->raw == c.raw);
  }
  CHECK_FALSE(ParseInfluxUnit("d"));
  CHECK_FALSE(InfluxTime(-1, InfluxUnit::kNanosecond));
  CHECK_FALSE(InfluxTime(999'999, InfluxUnit::kNanosecond));
  CHECK_FALSE(InfluxTime(INT64_MAX, InfluxUnit::kNanosecond));
  CHECK_FALSE(InfluxTime(INT64_MAX, InfluxUnit::kHour));
  CHECK_FALSE(InfluxTime(10'000'000'000'000, InfluxUnit::kMillisecond));
  CHECK_FALSE(InfluxTime(1'500'000'000, InfluxUnit::kNanosecond));  // 1.5 s after the epoch
}

}  // namespace hg::http
