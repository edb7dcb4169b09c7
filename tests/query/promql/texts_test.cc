// Numbers, durations, patterns and labels as texts.

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "query/promql/anchored_pattern.h"
#include "query/promql/duration_text.h"
#include "query/promql/labels.h"
#include "query/promql/matcher.h"
#include "query/promql/number_text.h"
#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {
namespace {

bool Matches(const AnchoredPattern& pattern, std::string_view text) {
  const Result<bool> matches = pattern.Matches(text, RequestContext::Unlimited());
  REQUIRE(matches.ok());
  return *matches;
}

}  // namespace

TEST_CASE("durations have units in order, each once") {
  const std::pair<const char*, int64_t> cases[] = {
      {"5m", 300000},    {"1h30m", 5400000},  {"1d12h", 129600000},
      {"90s", 90000},    {"250ms", 250},      {"1m500ms", 60500},
      {"1w", 604800000}, {"1y", 31536000000}, {"1y1w1d1h1m1s1ms", 32230861001},
      {"0", 0},          {"0s", 0},           {"100m", 6000000},
  };
  for (const auto& [text, ms] : cases) {
    CAPTURE(text);
    const Result<int64_t> parsed = ParseDurationMs(text);
    REQUIRE(parsed.ok());
    CHECK(*parsed == ms);
  }
  for (const char* text : {"", "5", "m", "5x", "1m1h", "5m5m", "-5m", "1.5h", "5 m", "5M",
                           "300000y", "99999999999999999999s", "+5m", "1hh"}) {
    CAPTURE(text);
    CHECK(!ParseDurationMs(text).ok());
  }
}

TEST_CASE("numbers in label values have Go's format") {
  const std::pair<const char*, double> cases[] = {
      {"1", 1},      {"0.5", 0.5}, {"+Inf", HUGE_VAL}, {"inf", HUGE_VAL}, {"-Infinity", -HUGE_VAL},
      {"1e3", 1000}, {".5", 0.5},  {"5.", 5},          {"0x1p4", 16},     {"-0x1.8P1", -3},
      {"1e-400", 0}, {"+7", 7},
  };
  for (const auto& [text, value] : cases) {
    CAPTURE(text);
    REQUIRE(ParseFloat(text).has_value());
    CHECK(*ParseFloat(text) == value);
  }
  CHECK(std::isnan(*ParseFloat("NaN")));
  for (const char* text :
       {"", "+", "--1", "+-1", "1x", "infi", "nan(1)", "0x10", " 1", "1 ", "1e", "1e400", "e5"}) {
    CAPTURE(text);
    CHECK(!ParseFloat(text).has_value());
  }
}

TEST_CASE("numbers are printed with the fewest digits that read back") {
  CHECK(FixedText(0.1) == "0.1");
  CHECK(FixedText(1e21) == "1000000000000000000000");
  CHECK(FixedText(1e23) == "100000000000000000000000");
  CHECK(FixedText(1e-7) == "0.0000001");
  CHECK(FixedText(-123.456) == "-123.456");
  CHECK(FixedText(9007199254740993.0) == "9007199254740992");
  CHECK(FixedText(10) == "10");
  CHECK(FixedText(-HUGE_VAL) == "-Inf");
  CHECK(FixedText(5) == "5");
  const auto answer = [](double value) {
    std::string out;
    AppendAnswerText(value, &out);
    return out;
  };
  CHECK(answer(1e20) == "100000000000000000000");
  CHECK(answer(1e21) == "1e+21");
  CHECK(answer(1e-7) == "1e-07");
  CHECK(answer(0.000001) == "0.000001");
  CHECK(answer(-0.0) == "-0");
  CHECK(answer(NAN) == "NaN");
  CHECK(answer(HUGE_VAL) == "+Inf");
}

TEST_CASE("numbers of responses have an exponent only where Prometheus prints one") {
  const auto answer = [](double value) {
    std::string out = "x";
    AppendAnswerText(value, &out);
    return out.substr(1);
  };
  std::mt19937_64 random(11);
  for (int i = 0; i < 20'000; ++i) {
    double value = std::bit_cast<double>(random());
    if (i % 4 == 1 && std::isnormal(value))
      value = std::ldexp(value, -std::ilogb(value) + static_cast<int>(random() % 90) - 25);
    if (i % 4 == 2) value = static_cast<double>(random() % 1'000'000) / 100;
    if (i % 4 == 3) value = static_cast<double>(random() >> random() % 60);
    const double size = std::abs(value);
    if (!std::isfinite(value) || (size != 0 && (size < 1e-6 || size >= 1e21))) continue;
    CAPTURE(value);
    CHECK(answer(value) == FixedText(value));
  }
  for (const double value : {999999999999999.9, 1e15, 1000000000000000.1, 9007199254740993.0, 0.1})
    CHECK(answer(value) == FixedText(value));
}

TEST_CASE("patterns that only list texts are recognized") {
  using Texts = std::vector<std::string>;
  CHECK(LiteralChoices("a") == Texts{"a"});
  CHECK(LiteralChoices("b|a") == Texts{"a", "b"});
  CHECK(LiteralChoices("(b|a)") == Texts{"a", "b"});
  CHECK(LiteralChoices("(?:b|a)") == Texts{"a", "b"});
  CHECK(LiteralChoices("10\\.0\\.0\\.1|web\\-1") == Texts{"10.0.0.1", "web-1"});
  CHECK(LiteralChoices("a|") == Texts{"", "a"});
  CHECK(LiteralChoices("") == Texts{""});
  CHECK(LiteralChoices("caf\u00e9|\u20ac") == Texts{"caf\u00e9", "\u20ac"});
  for (const char* pattern : {"a.",   "a*",      "a|b+",    "a?",    "^a",     "a$",   "[ab]",
                              "a{2}", "(a)|(b)", "(a|(b))", "(?i)a", "(?i:a)", "\\d",  "a\\",
                              "\\pL", "\\Qa\\E", "a)",      "(a",    "\\_",    "\xff", "\\n"}) {
    CAPTURE(pattern);
    CHECK(LiteralChoices(pattern).empty());
  }
}

TEST_CASE("the number of listed texts is limited, and longer lists are patterns") {
  using Texts = std::vector<std::string>;
  CHECK(LiteralChoices("b|a|b|a") == Texts{"a", "b"});
  std::string pattern = "0";
  for (size_t i = 1; i < kLiteralChoicesMax; ++i) pattern += "|" + std::to_string(i);
  CHECK(LiteralChoices(pattern).size() == kLiteralChoicesMax);
  CHECK(LiteralChoices(pattern + "|x").empty());
}

TEST_CASE("matchers of listed texts admit the same as their patterns") {
  for (const char* pattern : {"a", "b|a", "(b|a)", "(?:a|b|)", "a\\.b|c", "\\|", "a\\\\|b"}) {
    CAPTURE(pattern);
    REQUIRE(!LiteralChoices(pattern).empty());
    const auto compiled = AnchoredPattern::Compile(pattern);
    REQUIRE(compiled.ok());
    const auto is = Matcher::Make("l", MatchKind::kMatches, pattern);
    const auto is_not = Matcher::Make("l", MatchKind::kMatchesNot, pattern);
    for (const char* text : {"", "a", "b", "ab", "a.b", "axb", "c", "|", "a\\", "(b", "a|b"}) {
      CAPTURE(text);
      CHECK(is->Admits(text) == Matches(**compiled, text));
      CHECK(is_not->Admits(text) != Matches(**compiled, text));
    }
  }
}

TEST_CASE("a pattern is not compiled on an event loop") {
  FakeWatch watch;
  watch.StayOnLoop();
  CHECK(Matcher::Make("l", MatchKind::kMatches, "a|b", watch).ok());
  CHECK(!watch.refused());
  CHECK(Matcher::Make("l", MatchKind::kMatches, "a.*", watch).status().code() == StatusCode::kBusy);
  CHECK(watch.refused());
}

TEST_CASE("patterns match whole texts and return their groups") {
  const auto pattern = AnchoredPattern::Compile("(?P<host>[a-z]+)(\\d+)|other");
  REQUIRE(pattern.ok());
  const auto expand = [&](const char* text, const char* form) {
    return *(*pattern)->Expand(text, form, 10, RequestContext::Unlimited());
  };
  CHECK(Matches(**pattern, "web12"));
  CHECK(Matches(**pattern, "other"));
  CHECK(!Matches(**pattern, "web12.local"));
  CHECK(!Matches(**pattern, "x other"));
  CHECK(expand("web12", "$1-$2") == "web-12");
  CHECK(expand("web12", "${host}_${2}") == "web_12");
  CHECK(expand("web12", "$host_") == "");  // the group "host_"
  CHECK(expand("web12", "$$1 $9 $ ${1") == "$1  $ ${1");
  CHECK(expand("nothing", "$1") == std::nullopt);
  CHECK(expand("web12", "$1$1$$ $ ") == "webweb$ $ ");
  for (const char* form : {"$1$1$1$1", "12345678901", "123456789$$$$", "123456789$ $ "}) {
    CAPTURE(form);
    CHECK((*pattern)->Expand("web12", form, 10, RequestContext::Unlimited()).status().message() ==
          "longer than 10 bytes");
  }
  CHECK(!AnchoredPattern::Compile("(?=a)").ok());
  CHECK(AnchoredPattern::Compile("\\pL{50}").ok());
  CHECK(AnchoredPattern::Compile("\\pL{100}").status().message() ==
        "the regular expression \"\\pL{100}\" is not valid: pattern too large - compile failed");
}

TEST_CASE("a match with an automaton beyond its memory is bounded and reports its cost") {
  for (const char* text : {"(?:a?b?c?){900}%d?(.?a){30}x", "(?:.?a?){1000}x", "(.*a.*b?){300}x"}) {
    CAPTURE(text);
    const auto pattern = AnchoredPattern::Compile(text);
    REQUIRE(pattern.ok());
    for (const size_t size : {200, 1'000, 4'000, 30'000}) {
      CAPTURE(size);
      FakeWatch watch;
      Result<bool> matches = false;
      const double seconds =
          CpuSecondsOf([&] { matches = (*pattern)->Matches(std::string(size, 'a'), watch); });
      CHECK(seconds < 1);
      if (matches.ok()) {
        CHECK(static_cast<double>(watch.steps) > seconds * 1e8);
      } else {
        CHECK(matches.status().code() == StatusCode::kLimitExceeded);
        CHECK(matches.status().message().find(text) != std::string_view::npos);
      }
    }
  }
}

TEST_CASE(
    "a pattern whose repetitions and classes take too much memory is refused before it is parsed") {
  for (const char* part :
       {"x{0,1000}", "(?:ab){1000}", "[a-z]{2,1000}", "x{1000,}", "\\pL", "[^\\P{Greek}]"}) {
    CAPTURE(part);
    std::string pattern;
    while (pattern.size() < 60'000) pattern += part;
    FakeWatch watch;
    Status status;
    CHECK(CpuSecondsOf([&] { status = AnchoredPattern::Compile(pattern, watch).status(); }) < 0.1);
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message().ends_with("pattern too large - it has too many repetitions"));
    CHECK(watch.bytes_most == 0);
  }
  CHECK(!AnchoredPattern::Compile(std::string(kPatternNodesMax + 1, '.')).ok());
}

TEST_CASE("the memory of a parsed pattern is charged while it is compiled") {
  FakeWatch watch;
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "x{0,1000}";
  CHECK(AnchoredPattern::Compile(pattern, watch).ok());
  CHECK(watch.bytes_most > 7'000'000);
  CHECK(watch.bytes < 5'000'000);
  watch.bytes_max = 7'000'000;
  CHECK(AnchoredPattern::Compile(pattern, watch).status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("the memory and the work of a match grow with its groups, and are bounded") {
  for (const size_t count : {10, 100, 1'000, 5'000}) {
    CAPTURE(count);
    std::string text;
    for (size_t i = 0; i < count; ++i) text += "(a?)";
    const auto pattern = AnchoredPattern::Compile(text + "a*");
    REQUIRE(pattern.ok());
    for (const size_t size : {1, 50, 200}) {
      CAPTURE(size);
      FakeWatch watch;
      watch.bytes_max = 300'000'000;
      Status status;
      const double seconds = CpuSecondsOf(
          [&] { status = (*pattern)->Expand(std::string(size, 'a'), "$1", 100, watch).status(); });
      CHECK(seconds < 0.5);
      CHECK((status.ok() || status.code() == StatusCode::kLimitExceeded));
      CHECK((status.ok() || count >= 1'000));
      if (status.ok()) CHECK(watch.bytes_most > static_cast<int64_t>(count * count * 16));
      CHECK(watch.bytes == 0);
    }
  }
}

TEST_CASE("compiled patterns are charged") {
  FakeWatch watch;
  REQUIRE(Matcher::Make("l", MatchKind::kMatches, "a.*", watch).ok());
  CHECK(watch.bytes > 100'000);
  watch.bytes_max = 500'000;
  CHECK(Matcher::Make("l", MatchKind::kMatches, "b.*", watch).status().code() ==
        StatusCode::kLimitExceeded);
}

TEST_CASE("matchers treat a missing label as an empty value") {
  const auto admits = [](MatchKind kind, const char* value, const char* text) {
    return Matcher::Make("a", kind, value)->Admits(text);
  };
  CHECK(admits(MatchKind::kEqual, "", ""));
  CHECK(!admits(MatchKind::kNotEqual, "", ""));
  CHECK(admits(MatchKind::kNotEqual, "x", ""));
  CHECK(admits(MatchKind::kMatches, "x*", ""));
  CHECK(!admits(MatchKind::kMatchesNot, "x*", ""));
  CHECK(!Matcher::Make("a", MatchKind::kMatches, "[").ok());
}

TEST_CASE("labels are sorted and have no empty values") {
  Labels labels({{"b", "2"}, {"a", "1"}, {"c", ""}, {"a", "3"}});
  CHECK(labels.Text() == "{a=\"3\", b=\"2\"}");
  labels.Set("b", "");
  labels.Set("d", "4");
  CHECK(labels.Text() == "{a=\"3\", d=\"4\"}");
  CHECK(labels.Get("x") == "");
  Labels kept = labels;
  kept.Keep(std::vector<std::string>{"d", "x"});
  CHECK(kept.Text() == "{d=\"4\"}");
  labels.Drop(std::vector<std::string>{"d"});
  CHECK(labels.Text() == "{a=\"3\"}");
  const auto key = [](const char* name, const char* value) {
    Labels one;
    one.Set(name, value);
    return one.Key();
  };
  CHECK(key("a", "bc") != key("ab", "c"));
  CHECK(Quoted("a\"\\\n") == "\"a\\\"\\\\\\n\"");
}

TEST_CASE("numbers for scrapes have an exponent from a million on") {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},
      {-0.0, "0"},
      {1, "1"},
      {0.1, "0.1"},
      {1e-4, "0.0001"},
      {9e-5, "9e-05"},
      {999999, "999999"},
      {1e6, "1e+06"},
      {-1234567, "-1.234567e+06"},
      {1e300, "1e+300"},
      {INFINITY, "+Inf"},
      {-INFINITY, "-Inf"},
      {NAN, "NaN"},
      {123456.789, "123456.789"},
  };
  for (const auto& [value, wanted] : cases) {
    std::string text;
    AppendScrapedText(value, &text);
    CHECK(text == wanted);
  }
}

TEST_CASE("the cost of labels counts their number and their bytes") {
  Labels labels;
  labels.Set("a", "b");
  const uint64_t one = labels.steps();
  labels.Set("c", "d");
  CHECK(labels.steps() > one);
  labels.Set("c", std::string(64'000, 'd'));
  CHECK(labels.steps() >= one + 1000);
}

}  // namespace hg::query::promql
