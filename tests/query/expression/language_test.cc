#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "query/expression/limits.h"
#include "query/expression/program.h"
#include "storage/model/number_text.h"
#include "storage/model/special_double.h"

namespace hg::query {
namespace {

/// Every variable is looked up here by its first letter.
struct Inputs {
  double a = 2, b = 5, c = -2.5, n = kNan;
};

// The printed value; "syntax" if the text does not compile, "error" if it cannot be evaluated.
std::string Evaluate(const std::string& text, const Inputs& inputs = {}) {
  Result<Program> program = CompileExpression(text);
  if (!program.ok()) return "syntax";
  std::vector<double> values;
  for (const std::string& name : program->variables) {
    values.push_back(name == "a"   ? inputs.a
                     : name == "b" ? inputs.b
                     : name == "c" ? inputs.c
                                   : inputs.n);
  }
  Evaluator evaluator(*program);
  double result = 0;
  if (!evaluator.Run(values, &result).ok()) return "error";
  std::string out;
  AppendJavaDouble(&out, result);
  return out;
}

struct Case {
  const char* text;
  const char* result;
};

void Check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(Evaluate(c.text) == c.result);
  }
}

// a = 2, b = 5, c = -2.5, n = NaN throughout.

TEST_CASE("operator precedence is that of JEXL") {
  Check({{"a + b * c", "-10.5"},
         {"(a + b) * c", "-17.5"},
         {"a - b - c", "-0.5"},
         {"a--c", "-0.5"},
         {"a - -c", "-0.5"},
         {"-a * b", "-10.0"},
         {"a + b == 7 && c < 0", "1.0"},
         {"a > b || b > a", "1.0"},
         {"a > 1 ? a : c", "2.0"},
         {"a < 1 ? a : b < 1 ? b : c", "-2.5"},
         {"not (a > 1)", "0.0"},
         {"!(a > 1) or b eq 5", "1.0"},
         {"a div 2 + b mod 3", "3.0"},
         {"a lt 3 and b ge 5 and c ne 0", "1.0"},
         {"a le 2 and b gt 4", "1.0"}});
}

TEST_CASE("doubles and integer literals can be mixed, and integer division truncates") {
  Check({{"a + 1", "3.0"},
         {"a * (1/2)", "0.0"},
         {"a * 1/2", "1.0"},
         {"7/2 + a - a", "3.0"},
         {"-7 % 3 + a", "4.0"},
         {"c % 2", "-0.5"},
         {"a * 9223372036854775807", "1.8446744073709552E19"},
         {"2147483647 + 1 + a", "2.14748365E9"},
         {"9223372036854775807 * 4 + a", "3.6893488147419103E19"}});
}

TEST_CASE("division and remainder by zero are zero") {
  Check({{"a / 0", "0.0"},
         {"a % 0", "0.0"},
         {"a / 0.0", "0.0"},
         {"n / 0", "0.0"},
         {"a + 1 / 0", "2.0"},
         {"a + (a > 1) / 2", "2.0"}});
}

TEST_CASE("decimal literals are float32, widened through their shortest text") {
  Check({{"a * 0 + 1.1", "1.1"},
         {"a * 0 + 3.14159265358979", "3.1415927"},
         {"a * 0 + 123456789.5", "1.23456792E8"},
         {"a * 0 - 123456789.5", "-1.23456792E8"},
         {"a * 0 + 16777216.0", "1.6777216E7"},
         {"a * 0 + 1000000000000000000000.0", "1.0E21"},
         {"a * 0 + 3.14159265358979d", "3.14159265358979"},
         {"a * 1.0e3", "2000.0"},
         {"a * 1.0f", "2.0"},
         {"a * .5", "syntax"},
         {"a * 1e3", "syntax"},
         {"a * 1.", "syntax"},
         {"a * 1.5b", "syntax"}});
}

TEST_CASE("integer literals have four notations") {
  Check({{"a * 0x10", "32.0"},
         {"a * 010", "16.0"},
         {"a * 10L", "20.0"},
         {"a * 10h", "20.0"},
         {"a * 09", "syntax"},
         {"a * 1000000000000000000000000000000000000000", "syntax"}});
}

TEST_CASE("NaN equals itself and is less than everything else") {
  Check({{"n == n", "1.0"},
         {"n != n", "0.0"},
         {"n < 1", "1.0"},
         {"n > 1", "0.0"},
         {"n * 0", "NaN"},
         {"n % 2", "NaN"},
         {"n ? a : b", "5.0"}});
}

TEST_CASE("a result is a double or a boolean") {
  Check({{"a > 1", "1.0"},
         {"a ? 1 : 2", "error"},
         {"a > 1 ? 1.0 : 2.0", "error"},
         {"a > 1 ? 1.0d : 2.0d", "1.0"},
         {"a | 1", "error"},
         {"(a | 1) + c", "0.5"},
         {"(a & 3) ^ 1", "error"},
         {"~a", "error"},
         {"~a + c", "-5.5"},
         {"a + 'x'", "error"},
         {"a; null", "error"},
         {"if (a > 5) { a }", "error"}});
}

TEST_CASE("booleans count as numbers with doubles, but not with integers") {
  Check({{"a + true", "3.0"},
         {"a * true", "2.0"},
         {"a * false", "0.0"},
         {"(a > 1) + 0", "error"},
         {"(a > 1) + 0.5", "1.5"},
         {"(a > 1) == 7", "1.0"},
         {"-(a > 1)", "0.0"}});
}

TEST_CASE("texts that look like numbers count as numbers") {
  Check({{"a + '5'", "7.0"},
         {"a + \"5.5\"", "7.5"},
         {"a * '2'", "4.0"},
         {"a - 'x'", "error"},
         {"a == '2'", "1.0"},
         {"a + ''", "NaN"},
         {"a + null", "2.0"},
         {"('x' + 'y') == 'xy' && a", "1.0"},
         {"a < null", "0.0"}});
}

TEST_CASE("an integer of any size can be joined to a text") {
  Check({{"('x' + 12) == 'x12' && a", "1.0"},
         {"('x' + (9223372036854775807 + 1)) == 'x9223372036854775808' && a", "1.0"},
         {"('x' + (-9223372036854775807 - 2)) == 'x-9223372036854775809' && a", "1.0"}});
}

TEST_CASE("statements return the value of the last one") {
  Check({{"a; c", "-2.5"},
         {"a;", "2.0"},
         {"var q = a * 2; q + 1", "5.0"},
         {"if (a > 1) { a } else { c }", "2.0"},
         {"if (a > 5) a else if (b > 5) b else c", "-2.5"},
         {"{ a; b }", "5.0"},
         {"return b; a", "5.0"},
         {"if (a > 1) { return b; } c", "5.0"},
         {"var q; q = b; q", "5.0"},
         {"a = b; a + 1", "6.0"},
         {"n ?: b", "5.0"},
         {"0 ?: b", "5.0"},
         {"c ?: b", "-2.5"},
         {"'' ?: b", "5.0"},
         {"'false' ?: b", "5.0"},
         {"a + ' NaN '", "NaN"},
         {"a - '-Infinity'", "Infinity"},
         {"a > 5 ?: b", "5.0"}});
}

TEST_CASE("expressions that parse but cannot be computed fail when they run") {
  Check({{"empty(a)", "0.0"},
         {"empty a", "0.0"},
         {"size(a)", "error"},
         {"a + size('xyz')", "5.0"},
         {"a[0]", "error"},
         {"[a, b]", "error"},
         {"[a", "syntax"},
         {"sqrt(a)", "error"},
         {"a.sqrt(b)", "error"},
         {"new('x', a)", "error"}});
}

TEST_CASE("comments are skipped") {
  Check({{"a // 2", "2.0"}, {"a ## 2", "2.0"}, {"a /* + b */ + 1", "3.0"}, {"a /* b", "syntax"}});
}

TEST_CASE("wrong syntax is refused") {
  Check({{"", "syntax"},
         {" ", "syntax"},
         {"5", "syntax"},
         {"(a", "syntax"},
         {"a)", "syntax"},
         {"a ** 2", "syntax"},
         {"a b", "syntax"},
         {"or + b", "syntax"},
         {"a < b < c", "syntax"},
         {"a == b == c", "syntax"},
         {"a =~ b", "syntax"},
         {"a + 'x", "syntax"},
         {"a # b", "syntax"},
         {"{ a", "syntax"},
         {"while (a) b", "syntax"},
         {"a ? b", "syntax"},
         {"for (x : a) b", "syntax"},
         {"a +", "syntax"},
         {"var 5 = a", "syntax"},
         {"a.5", "syntax"}});
}

TEST_CASE("variables are listed in order of appearance, with members and without locals") {
  Result<Program> program = CompileExpression("b + Math.sqrt(a) + b.x; var q = c; q");
  REQUIRE(program.ok());
  CHECK(program->variables == std::vector<std::string>{"b", "Math", "a", "x", "c"});
}

TEST_CASE("long expressions with few levels need no recursion") {
  std::string text = "a";
  while (text.size() + 2 <= kExpressionBytesMax) text += "+a";
  double terms = static_cast<double>((text.size() + 1) / 2);
  std::string expected;
  AppendJavaDouble(&expected, 2 * terms);
  CHECK(Evaluate(text) == expected);
  text += "+a";
  CHECK(Evaluate(text) == "syntax");
}

TEST_CASE("the nesting depth of every syntax is limited") {
  auto nested = [](std::string_view open, std::string_view close, int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += open;
    text += "a";
    for (int i = 0; i < levels; ++i) text += close;
    return text;
  };
  const std::pair<const char*, const char*> forms[] = {
      {"(", ")"}, {"-", ""},     {"!", ""},   {"a?b:", ""}, {"a=", ""},   {"empty(", ")"},
      {"{", "}"}, {"if(a)", ""}, {"f(", ")"}, {"a[", "]"},  {"a+(", ")"}, {"a&&(", ")"}};
  for (auto [open, close] : forms) {
    CAPTURE(open);
    CHECK(Evaluate(nested(open, close, kExpressionNestingMax / 4)) != "syntax");
    CHECK(Evaluate(nested(open, close, kExpressionNestingMax + 1)) == "syntax");
    CHECK(Evaluate(nested(open, close, 2000)) == "syntax");
  }
}

TEST_CASE("the length of texts that an expression builds is limited") {
  std::string text = "var q = 'xxxxxxxx';";
  for (int i = 0; i < 100; ++i) text += "q=q+q;";
  CHECK(Evaluate(text + "a") == "error");
}

constexpr size_t kLongTextBytes = 64'000;

// An expression that sets the local variable q to a text of kLongTextBytes.
std::string LongText() {
  std::string out = "var q='" + std::string(kLongTextBytes / 64, 'x') + "';";
  for (int i = 0; i < 6; ++i) out += "q=q+q;";
  return out;
}

TEST_CASE("the bytes of all texts that an evaluation keeps are limited") {
  // q and 15 further texts have less than kKeptTextBytesMax bytes, and 16 further texts have more.
  static_assert(16 * (kLongTextBytes + 1) < kKeptTextBytesMax);
  static_assert(17 * kLongTextBytes > kKeptTextBytesMax);
  std::string locals = LongText(), variables = LongText(), stack = LongText();
  for (int i = 0; i < 15; ++i) {
    locals += "var v" + std::to_string(i) + "=q+'y';";
    variables += "w" + std::to_string(i) + "=q+'y';";
    stack += "(q+'y')==(";
  }
  CHECK(Evaluate(locals + "a") == "2.0");
  CHECK(Evaluate(variables + "a") == "2.0");
  CHECK(Evaluate(stack + "'y'" + std::string(15, ')') + "; a") == "2.0");
  CHECK(Evaluate(locals + "var v15=q+'y'; a") == "error");
  CHECK(Evaluate(variables + "w15=q+'y'; a") == "error");
  CHECK(Evaluate(stack + "q+'y'" + std::string(15, ')') + "; a") == "error");
}

TEST_CASE("variables with the same text share it, and texts that are no longer used do not count") {
  std::string copies = LongText(), overwritten = LongText();
  for (int i = 0; i < 1000; ++i) {
    copies += "var v" + std::to_string(i) + "=q;";
    overwritten += "q=q+'y';";
  }
  CHECK(Evaluate(copies + "a + size(v999)") == "64002.0");
  CHECK(Evaluate(overwritten + "a + size(q)") == "65002.0");
}

TEST_CASE("an evaluator keeps no texts between two runs, whether the run succeeds or fails") {
  const std::string texts = LongText() + "var v=q+'y'; b=q;";
  for (const char* end : {"a", "v", "v-a", "a + sqrt(v)"}) {
    CAPTURE(end);
    const Result<Program> program = CompileExpression(texts + end);
    REQUIRE(program.ok());
    Evaluator evaluator(*program);
    const std::vector<double> values(program->variables.size(), 2);
    for (int run = 0; run < 20; ++run) {
      double result = 0;
      CHECK(evaluator.Run(values, &result).ok() == (end == std::string_view("a")));
      CHECK(evaluator.steps() > kLongTextBytes / 8);
      CHECK(evaluator.kept_text_bytes() == 0);
    }
  }
}

}  // namespace
}  // namespace hg::query
