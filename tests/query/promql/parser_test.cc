#include "query/promql/parser.h"

#include <doctest/doctest.h>

#include "query/promql/function_table.h"
#include "query/promql/number_text.h"
#include "tests/query/promql/tree_text.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {
namespace {

/// Returns the tree of an expression, or the error.
std::string Parsed(std::string_view text) {
  const Result<ExprPtr> expr = ParseExpression(text);
  return expr.ok() ? TreeText(**expr) : std::string(expr.status().message());
}

}  // namespace

TEST_CASE("operator precedence is that of Prometheus") {
  CHECK(Parsed("1 + 2 * 3") == "(+ 1 (* 2 3))");
  CHECK(Parsed("1 * 2 + 3") == "(+ (* 1 2) 3)");
  CHECK(Parsed("2 ^ 3 ^ 2") == "(^ 2 (^ 3 2))");
  CHECK(Parsed("8 / 4 / 2") == "(/ (/ 8 4) 2)");
  CHECK(Parsed("a or b and c unless d") == "(or {a} (unless (and {b} {c}) {d}))");
  CHECK(Parsed("a + b > c - d") == "(> (+ {a} {b}) (- {c} {d}))");
  CHECK(Parsed("a == bool b != bool c") == "(!=bool (==bool {a} {b}) {c})");
  CHECK(Parsed("a atan2 b % c") == "(% (atan2 {a} {b}) {c})");
  CHECK(Parsed("(1 + 2) * 3") == "(* (+ 1 2) 3)");
  CHECK(Parsed("a AND b Or c") == "(or (and {a} {b}) {c})");
}

TEST_CASE("a sign has higher precedence than multiplication and lower than powers") {
  CHECK(Parsed("-1 ^ 2") == "(neg (^ 1 2))");
  CHECK(Parsed("-a * b") == "(* (neg {a}) {b})");
  CHECK(Parsed("2 ^ -1") == "(^ 2 -1)");
  CHECK(Parsed("2 ^ -a ^ 2") == "(^ 2 (neg (^ {a} 2)))");
  CHECK(Parsed("--1") == "1");
  CHECK(Parsed("+a") == "(plus {a})");
  CHECK(Parsed("1 - -1") == "(- 1 -1)");
}

TEST_CASE("numbers are parsed as in Go") {
  CHECK(Parsed("0x1F") == "31");
  CHECK(Parsed("010") == "8");
  CHECK(Parsed("09") == "9");
  CHECK(Parsed("5.") == "5");
  CHECK(Parsed(".5") == "0.5");
  CHECK(Parsed("1e3") == "1000");
  CHECK(Parsed("2.5E-1") == "0.25");
  CHECK(Parsed("-Inf") == "-Inf");
  CHECK(Parsed("NaN") == "NaN");
  CHECK(Parsed("1e400") == "1:1: parse error: \"1e400\" is no number");
}

TEST_CASE("selectors accept names, matchers and ranges") {
  CHECK(Parsed("up") == "{up}");
  CHECK(Parsed("job:up:sum") == "{job:up:sum}");
  CHECK(Parsed("up{job=\"a\",instance!='b'}") == "{up,job=a,instance!=b}");
  CHECK(Parsed("up{job=~\"a|b\",x!~`\\d+`,}") == "{up,job=~a|b,x!~\\d+}");
  CHECK(Parsed("{__name__=\"sys.cpu.user\"}") == "{sys.cpu.user}");
  CHECK(Parsed("{\"sys.cpu.user\", \"host.name\"=\"a\"}") == "{sys.cpu.user,host.name=a}");
  CHECK(Parsed("up[5m]") == "{up}[300000]");
  CHECK(Parsed("up [ 1h30m ]") == "{up}[5400000]");
  CHECK(Parsed("sum") == "{sum}");
  CHECK(Parsed("offset") == "{offset}");
  CHECK(Parsed("time") == "{time}");
  CHECK(Parsed("# all of them\nup # here") == "{up}");
  CHECK(Parsed(R"(up{a="\n\t\"\x41\u00e9\101"})") == "{up,a=\n\t\"A\u00e9A}");
}

TEST_CASE("offset and @ may follow selectors and subqueries, in any order") {
  CHECK(Parsed("up offset 5m") == "{up} offset 300000");
  CHECK(Parsed("up offset -1h") == "{up} offset -3600000");
  CHECK(Parsed("up[5m] offset 1d @ 12.5") == "{up}[300000] offset 86400000 @ 12500");
  CHECK(Parsed("up @ start() offset 1s") == "{up} offset 1000 @ start");
  CHECK(Parsed("up @ end()") == "{up} @ end");
  CHECK(Parsed("up @ -7") == "{up} @ -7000");
  CHECK(Parsed("-up offset 5m") == "(neg {up} offset 300000)");
  CHECK(Parsed("rate(up[1m])[1h:5m] offset 1m") ==
        "(rate {up}[60000])[3600000:300000] offset 60000");
  CHECK(Parsed("up[1h:]") == "{up}[3600000:0]");
}

TEST_CASE("aggregations accept their grouping before or after the arguments") {
  CHECK(Parsed("sum(up)") == "(sum {up})");
  CHECK(Parsed("sum by (a, b) (up)") == "(sum by(a,b) {up})");
  CHECK(Parsed("sum(up) by (a,)") == "(sum by(a) {up})");
  CHECK(Parsed("MAX without () (up)") == "(max without() {up})");
  CHECK(Parsed("topk(5, up) by (on)") == "(topk by(on) 5 {up})");
  CHECK(Parsed("count_values(\"v\", up)") == "(count_values \"v\" {up})");
  CHECK(Parsed("sum by (\"host.name\") (up)") == "(sum by(host.name) {up})");
}

TEST_CASE("vector matching is parsed with its sides") {
  CHECK(Parsed("a / on(x) b") == "(/ on(x) {a} {b})");
  CHECK(Parsed("a > bool ignoring(x, y) b") == "(>bool ignoring(x,y) {a} {b})");
  CHECK(Parsed("a * on(x) group_left(y) b") == "(* on(x) left(y) {a} {b})");
  CHECK(Parsed("a * ignoring(x) group_right b") == "(* ignoring(x) right() {a} {b})");
  CHECK(Parsed("a and on() b") == "(and on() {a} {b})");
}

TEST_CASE("calls with the arguments of the function's signature are parsed") {
  CHECK(Parsed("rate(up[5m])") == "(rate {up}[300000])");
  CHECK(Parsed("round(up)") == "(round {up})");
  CHECK(Parsed("round(up, 5)") == "(round {up} 5)");
  CHECK(Parsed("time()") == "(time)");
  CHECK(Parsed("label_join(up, \"d\", \",\", \"a\", \"b\")") ==
        "(label_join {up} \"d\" \",\" \"a\" \"b\")");
}

TEST_CASE("a parse error names the line and the byte") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "1:1: parse error: no expression found in input"},
      {"up up", "1:4: parse error: unexpected \"up\""},
      {"1 +", "1:4: parse error: unexpected end of input"},
      {"up +\n  )", "2:3: parse error: unexpected \")\""},
      {"foo(up)", "1:1: parse error: there is no function \"foo\""},
      {"up{a=b}", "1:6: parse error: unexpected \"b\" in label matching, expected a quoted text"},
      {"up{a=~\"(\"}", "1:7: parse error: the regular expression \"(\" is not valid: missing ): ("},
      {"up{a=\"b}", "1:6: parse error: the quoted text has no end"},
      {"\"\\q\"", "1:2: parse error: unknown escape sequence"},
      {"{}", "1:1: parse error: a selector needs a matcher that does not admit the empty text"},
      {"{a=~\".*\"}",
       "1:1: parse error: a selector needs a matcher that does not admit the empty text"},
      {"a{__name__=\"b\"}",
       "1:1: parse error: the name of the metric is given twice: \"a\" and \"b\""},
      {"up[5m*]", "1:7: parse error: unexpected \"]\", expected a number or a duration"},
      {"up[5m/0]", "1:6: parse error: a duration is divided by zero"},
      {"up[-5m]", "1:4: parse error: a duration must be greater than 0"},
      {"up[9300000000]", "1:4: parse error: the duration \"9300000000\" is out of range"},
      {"limitk(1, up)",
       "1:1: parse error: the function limitk is experimental in Prometheus and not supported"},
      {"rate(up[5m] anchored)",
       "1:13: parse error: the modifier anchored is experimental in Prometheus and not supported"},
      {"a + fill(0) b",
       "1:5: parse error: the modifier fill is experimental in Prometheus and not supported"},
      {"a </ b",
       "1:4: parse error: the operator is for native histograms, which are not supported"},
      {"up[0s]", "1:4: parse error: a duration must be greater than 0"},
      {"up[5m1h]",
       "1:4: parse error: not a valid duration: \"5m1h\" needs units of y w d h m s ms, "
       "each once, in this order"},
      {"(up)[5m]", "1:5: parse error: a range belongs behind a selector"},
      {"up offset 5m [5m]", "1:14: parse error: a range belongs in front of offset"},
      {"sum(up) offset 5m",
       "1:9: parse error: offset belongs behind a selector, a range or a subquery"},
      {"up offset 1m offset 2m", "1:14: parse error: offset is given twice"},
      {"up @ inf", "1:6: parse error: the time \"inf\" behind @ is out of range"},
      {"up[5m:][5m:]", "1:8: parse error: a subquery belongs behind an instant vector"},
      {"rate(up)", "1:6: parse error: expected range vector in call of rate, got instant vector"},
      {"sum(up[5m])",
       "1:5: parse error: expected instant vector in the aggregation, got range vector"},
      {"topk(\"a\", up)",
       "1:6: parse error: expected scalar as parameter of the aggregation, got string"},
      {"topk(up)", "1:1: parse error: topk takes 2 arguments, not 1"},
      {"clamp(up, 1)", "1:1: parse error: clamp takes 3 arguments, not 2"},
      {"round()", "1:1: parse error: round takes 1 to 2 arguments, not 0"},
      {"label_join(up)", "1:1: parse error: label_join takes at least 3 arguments, not 1"},
      {"1 == 1", "1:1: parse error: comparisons of scalars need bool: == bool"},
      {"1 + bool 1", "1:1: parse error: bool belongs to comparisons, not to +"},
      {"1 and up", "1:1: parse error: and combines two instant vectors, no scalars"},
      {"up and on(a) group_left up", "1:1: parse error: and takes no group_left or group_right"},
      {"up + on(a) 1", "1:1: parse error: on and ignoring match two instant vectors, no scalars"},
      {"a + on(x) group_left(x) b", "1:1: parse error: label \"x\" is in both on and group"},
      {"\"a\" + 1", "1:1: parse error: + combines a scalar or an instant vector, not a string"},
      {"-\"a\"", "1:2: parse error: a sign belongs to a scalar or an instant vector, not a string"},
      {"1[5m:]", "1:1: parse error: expected instant vector in a subquery, got scalar"},
      {"up;", "1:3: parse error: unexpected character \";\""},
      {"sum by (a:b) (up)",
       "1:9: parse error: unexpected \"a:b\" in grouping, expected the name of a label"},
      {"bool", "1:1: parse error: unexpected \"bool\""},
      {"time(1,)", "1:8: parse error: unexpected \")\""},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    CHECK(Parsed(text) == message);
  }
}

TEST_CASE("depth and length of an expression are limited") {
  const auto repeated = [](const std::string& text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  CHECK(ParseExpression(repeated("(", 90) + "1" + repeated(")", 90)).ok());
  CHECK(Parsed(repeated("(", 200) + "1" + repeated(")", 200)) ==
        "1:101: parse error: more than 100 levels of parentheses, signs and calls");
  CHECK(ParseExpression("1" + repeated("+1", 1000)).ok());
  CHECK(Parsed("1" + repeated("+1", 1001)) == "1:2002: parse error: more than 1000 operators");
  CHECK(ParseExpression("up{" + repeated("a=~\"b\",", 100) + "}").ok());
  CHECK(Parsed("up{" + repeated("a!~\"b\",", 50) + "}+up{" + repeated("a=~\"b\",", 51) + "}") ==
        "1:712: parse error: more than 100 regular expressions");
  CHECK(Parsed(repeated(" ", 65537)) == "the expression is longer than 65536 bytes");
}

TEST_CASE("invalid numbers and durations are refused, and no text is parsed twice") {
  CHECK(Parsed(".5m") == "1:1: parse error: not a valid duration: \".5m\" needs digits and units");
  CHECK(Parsed("1.5m") ==
        "1:1: parse error: not a valid duration: \"1.5m\" needs units of y w d h m s ms, each "
        "once, in this order");
  CHECK(Parsed("0x1g") ==
        "1:1: parse error: not a valid duration: \"0x1g\" needs units of y w d h m s ms, each "
        "once, in this order");
  CHECK(Parsed("1e+5m") ==
        "1:1: parse error: not a valid duration: \"1e+5m\" needs units of y w d h m s ms, each "
        "once, in this order");
  CHECK(Parsed("5m.3") == "1:3: parse error: unexpected \".3\"");
  CHECK(Parsed("1e") == "1:1: parse error: \"1e\" is no number");
  CHECK(Parsed("0x") == "1:1: parse error: \"0x\" is no number");
  for (const char* text :
       {"up[.5m]", "rate(up[.5h])", ".e5", "..", ".5.5m", "up offset .5m", "up @ .5m", "up[5m:.5s]",
        ".5_", "1.m", "up{a=.5m}", "sum by (.5m) (up)", "1.5e5e", "0X.5m"}) {
    CAPTURE(text);
    CHECK(Parsed(text).find("parse error") != std::string::npos);
  }
}

TEST_CASE("every short text of expression characters is parsed to its end") {
  // Each text gives a tree or an error, and neither the lexer nor the parser loops.
  constexpr std::string_view kCharacters = "1.0xem[](){}:,+-@=~!<\"a# ";
  std::string text(4, ' ');
  size_t read = 0;
  for (const char a : kCharacters) {
    for (const char b : kCharacters) {
      for (const char c : kCharacters) {
        for (const char d : kCharacters) {
          text[0] = a, text[1] = b, text[2] = c, text[3] = d;
          const Result<ExprPtr> expr = ParseExpression(text);
          read += expr.ok() || !expr.status().message().empty() ? 1 : 0;
        }
      }
    }
  }
  CHECK(read == kCharacters.size() * kCharacters.size() * kCharacters.size() * kCharacters.size());
}

TEST_CASE("the tree of a text is charged, and the number of its tokens is limited") {
  std::string text = "up{";
  for (int i = 0; i < 5000; ++i) text += "a!=\"b\",";
  text += "}";
  FakeWatch watch;
  REQUIRE(ParseExpression(text, watch).ok());
  CHECK(watch.bytes > 5000 * 200);
  CHECK(watch.steps > 20'000);
  FakeWatch poor;
  poor.bytes_max = 1 << 20;
  CHECK(ParseExpression(text, poor).status().code() == StatusCode::kLimitExceeded);
  FakeWatch hasty;
  hasty.steps_max = 10'000;
  CHECK(ParseSelector(text, hasty).status().code() == StatusCode::kDeadlineExceeded);
  CHECK(Parsed(std::string(60'000, '(')).find("more than 32768 words and symbols") !=
        std::string::npos);
}

TEST_CASE("ParseSelector accepts a single selector and refuses ranges and expressions") {
  const Result<Matchers> matchers = ParseSelector("up{job!=\"a\"}");
  REQUIRE(matchers.ok());
  REQUIRE(matchers->size() == 2);
  CHECK((*matchers)[1].Admits("b"));
  CHECK(!(*matchers)[1].Admits("a"));
  CHECK(!ParseSelector("up[5m]").ok());
  CHECK(!ParseSelector("sum(up)").ok());
}

}  // namespace hg::query::promql
