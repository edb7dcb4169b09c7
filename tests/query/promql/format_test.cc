#include "query/promql/format.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "query/promql/parser.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {
namespace {

/// Returns the formatted expression, or the error. Formatting the result must not change it.
std::string Formatted(std::string_view text) {
  CAPTURE(text);
  const Result<ExprPtr> expr = ParseExpression(text);
  if (!expr.ok()) return std::string(expr.status().message());
  const Result<std::string> formatted = FormatExpression(**expr);
  REQUIRE(formatted.ok());
  if (formatted->size() > kExpressionBytesMax) return *formatted;
  const Result<ExprPtr> again = ParseExpression(*formatted);
  CAPTURE(*formatted);
  REQUIRE(again.ok());
  CHECK(*FormatExpression(**again) == *formatted);
  return *formatted;
}

std::string Repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("an expression is printed with regular spaces, quotes and durations") {
  const std::pair<const char*, const char*> cases[] = {
      {"up{}", "up"},
      {"  up  # a comment", "up"},
      {"up{job='a',instance=~`b.*`}", R"(up{instance=~"b.*",job="a"})"},
      {R"({__name__="up"})", R"({__name__="up"})"},
      {R"({"room.temp","host.name"!="x"})", R"({"host.name"!="x",__name__="room.temp"})"},
      {R"(m{a!="x\n\t\"\\"})", R"(m{a!="x\n\t\"\\"})"},
      {"m[300]", "m[5m]"},
      {"m[90m] offset -1h30m @ 1.5", "m[1h30m] @ 1.500 offset -1h30m"},
      {"m offset 0s", "m"},
      {"m[5m*2]", "m[5m * 2]"},
      {"m[(300):Step()*2] offset -min_of(1m,range())",
       "m[(300):step() * 2] offset -min_of(1m, range())"},
      {"m offset (step()+1)^2", "m offset (step() + 1) ^ 2"},
      {"m offset --5s*4", "m offset (5s * 4)"},
      {"m @ -0.25", "m @ -0.250"},
      {"m @ end() offset 1w", "m @ end() offset 1w"},
      {"rate(m[8d])[52w:1d2h3ms] @ start()", "rate(m[8d])[52w:1d2h3ms] @ start()"},
      {"max_over_time((m)[365d:])", "max_over_time((m)[1y:])"},
      {"sum(m)by(job,code)", "sum by (job, code) (m)"},
      {"sum by () (m)", "sum(m)"},
      {"sum without () (m)", "sum without () (m)"},
      {R"(topk by("host.name",b)(3,m))", R"(topk by ("host.name", b) (3, m))"},
      {"a==bool on(x,y)group_left(z)b", "a == bool on (x, y) group_left (z) b"},
      {"a*ignoring()group_right b", "a * ignoring () group_right () b"},
      {"a and ignoring()b", "a and b"},
      {"a unless on()b", "a unless on () b"},
      {"((a))+(1)", "((a)) + (1)"},
      {"-(1)", "-(1)"},
      {"--1", "1"},
      {"-1^2", "-1 ^ 2"},
      {"2^-a^2*3", "2 ^ -a ^ 2 * 3"},
      {"+a", "+a"},
      {"0x1F+010+1e3", "31 + 8 + 1000"},
      {"a>-Inf", "a > -Inf"},
      {"inf+NAN", "+Inf + NaN"},
      {"Inf^2", "Inf ^ 2"},
      {"-Inf^2", "-Inf ^ 2"},
      {"(inf)^2", "(+Inf) ^ 2"},
      {"m*1h30m", "m * 1h30m"},
      {"m*-90s", "m * -1m30s"},
      {"m@100s", "m @ 100.000"},
      {"time()", "time()"},
      {R"(label_replace(m,"a",'"','b','\x07é'))", R"(label_replace(m, "a", "\"", "b", "\aé"))"},
      {"sum{}[5m]", "sum[5m]"},
      {"and{} and and{}", "and and and"},
  };
  for (const auto& [text, wanted] : cases) CHECK(Formatted(text) == wanted);
}

TEST_CASE("an expression of more than 100 bytes is divided into lines") {
  const std::string name(60, 'a');
  CHECK(Formatted("sum by(job) (rate(" + name + "[5m])) / 2") ==
        "sum by (job) (rate(" + name + "[5m])) / 2");
  CHECK(Formatted(name + "+" + name) == "  " + name + "\n+\n  " + name);
  CHECK(Formatted("sum by(x)(abs(" + name + "))/(" + name + " or b)") ==
        "  sum by (x) (abs(" + name + "))\n/\n  (" + name + " or b)");
  CHECK(Formatted("topk(3," + name + "*on(x)" + name + ")") ==
        "topk(\n  3,\n    " + name + "\n  * on (x)\n    " + name + "\n)");
  CHECK(Formatted("-label_replace(" + name + ",\"" + name + "\",\"\",\"b\",\"\")") ==
        "-label_replace(\n  " + name + ",\n  \"" + name + "\",\n  \"\",\n  \"b\",\n  \"\"\n)");
  CHECK(Formatted("(" + name + "+" + name + ")[1h:1m]") ==
        "(\n    " + name + "\n  +\n    " + name + "\n)[1h:1m]");
}

TEST_CASE("each expression that the comparison with Prometheus sends keeps its meaning") {
  std::ifstream in(HG_SOURCE_DIR "/tests/compat/promql/expressions.txt");
  REQUIRE(in);
  size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    for (const std::string prefix : {"at an instant: ", "unlike 2.42: "}) {
      if (line.starts_with(prefix)) line.erase(0, prefix.size());
    }
    if (line.empty() || line.front() == '#' || !ParseExpression(line).ok()) continue;
    Formatted(line);
    ++count;
  }
  CHECK(count > 300);
}

TEST_CASE("@ times beyond 2^53 milliseconds are printed as a text that means the same time") {
  for (const char* time : {"1e13", "9007199254740.993", "123456789012345.678", "9.1e15", "-7e14"}) {
    CAPTURE(time);
    Formatted(std::string("m @ ") + time);
  }
}

TEST_CASE("deep, long and wide expressions are printed within the limits of a request") {
  const std::string deep = Repeated("(", 99) + std::string(200, 'a') + Repeated(")", 99);
  CHECK(Formatted(deep).size() > 99 * 100);
  Formatted("1" + Repeated(" + 1e308", 1000));
  Formatted("label_join(a, \"b\", \"\"" + Repeated(",\"\"", 10000) + ")" + Repeated(" + a", 1000));
  const Result<ExprPtr> expr = ParseExpression("1" + Repeated(" + 1e308", 1000));
  REQUIRE(expr.ok());
  FakeWatch narrow;
  narrow.bytes_max = 100'000;
  CHECK(FormatExpression(**expr, narrow).status().code() == StatusCode::kLimitExceeded);
  FakeWatch short_time;
  short_time.steps_max = 1000;
  CHECK(FormatExpression(**expr, short_time).status().code() == StatusCode::kDeadlineExceeded);
}

}  // namespace hg::query::promql
