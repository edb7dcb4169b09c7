#include "query/plan/filter.h"

#include <doctest/doctest.h>

#include "query/plan/filter_set.h"
#include "tests/support/colliding_texts.h"
#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

bool Matches(const TagFilter& filter, std::string_view value) {
  const Result<bool> matches = filter.Matches(value, RequestContext::Unlimited());
  REQUIRE(matches.ok());
  return *matches;
}
bool Passes(const char* type, const char* text, const char* value) {
  auto filter = TagFilter::Compile({type, "k", text, false, false});
  REQUIRE(filter.ok());
  return Matches(**filter, value);
}
bool Refused(const char* type, const char* text) {
  return !TagFilter::Compile({type, "k", text, false, false}).ok();
}

bool Same(const FilterSpec& a, const FilterSpec& b) {
  return *FilterIdentity(a) == *FilterIdentity(b);
}

TEST_CASE("literals are alternatives") {
  CHECK(Passes("literal_or", "a|b", "b"));
  CHECK_FALSE(Passes("literal_or", "a|b", "B"));
  CHECK(Passes("iliteral_or", "A|b", "a"));
  CHECK(Passes("not_literal_or", "a|b", "c"));
  CHECK_FALSE(Passes("not_literal_or", "a|b", "a"));
  CHECK_FALSE(Passes("not_iliteral_or", "a|b", "A"));
  CHECK(Passes("literal_or", "a||", "a"));
  CHECK_FALSE(Passes("literal_or", "a||", ""));
  CHECK(Refused("literal_or", "|"));
  CHECK(Refused("literal_or", ""));
}

TEST_CASE("wildcards match with OpenTSDB's peculiarities") {
  struct Case {
    const char* pattern;
    const char* value;
    bool matches;
  };
  const Case cases[] = {
      {"*", "anything", true},   {"**", "", true},       {"web*", "web01", true},
      {"web*", "xweb01", false}, {"*01", "web01", true}, {"*01", "web012", false},
      {"*eb*", "web01", true},   {"w*1", "web01", true}, {"web*net", "xwebAnetz", true},
      {"ab*b", "xaby", true},    {"b*c", "acb", true},   {"a*a", "aa", true},
      {"a*a", "a", false},       {"a**b", "ab", true},   {"*.net", "web.net.x", false},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.pattern));
    CAPTURE(std::string(c.value));
    CHECK(Passes("wildcard", c.pattern, c.value) == c.matches);
  }
  CHECK_FALSE(Passes("wildcard", "WEB*", "web01"));
  CHECK(Passes("iwildcard", "WEB*", "web01"));
  CHECK(Refused("wildcard", "web"));
}

TEST_CASE("regular expressions are searched in Java's dialect") {
  CHECK(Passes("regexp", "eb0", "web01"));
  CHECK_FALSE(Passes("regexp", "^eb", "web01"));
  CHECK(Passes("regexp", "^web[0-9]{2}$", "web01"));
  CHECK(Passes("regexp", "(?i)WEB", "web01"));
  CHECK(Passes("regexp", "\\p{Alpha}+\\d", "web01"));
  CHECK(Passes("regexp", "[\\p{Digit}]$", "web01"));
  CHECK(Passes("regexp", "^(?!db).*", "web01"));
  CHECK(Passes("regexp", "\\Qa.b\\E", "a.b"));
  CHECK(Passes("regexp", "^.$", "\xC3\xA9"));  // one character
  CHECK(Refused("regexp", "("));
}

TEST_CASE("a filter with an expensive pattern ends with an error that names the pattern") {
  const auto filter = TagFilter::Compile({"regexp", "k", "^(a+)+$"});
  REQUIRE(filter.ok());
  FakeWatch watch;
  const Status status = (*filter)->Matches(std::string(60, 'a') + "b", watch).status();
  CHECK(status.code() == StatusCode::kLimitExceeded);
  CHECK(status.message().find("'^(a+)+$'") != std::string_view::npos);
}

TEST_CASE("an unknown filter type, such as not_key, is refused") {
  CHECK(Refused("not_key", "x"));
  CHECK(Refused("LITERAL_OR", "x"));
}

TEST_CASE("legacy tag values become filters") {
  auto legacy = [](const char* text) {
    Result<FilterSpec> f = LegacyFilter("host", text, true);
    REQUIRE(f.ok());
    return f->type + "(" + f->filter + ")" + (f->ignore_case ? "i" : "");
  };
  CHECK(legacy("*") == "wildcard(*)i");
  CHECK(legacy("a|b") == "literal_or(a|b)");
  CHECK(legacy("web*") == "wildcard(web*)i");
  CHECK(legacy("Regexp(a.*)") == "regexp(a.*)");
  CHECK_FALSE(LegacyFilter("host", "regexp(a", true).ok());
  CHECK_FALSE(LegacyFilter("host", "", true).ok());
}

TEST_CASE(
    "filters are equal if their literals, the texts between their outer stars, or their "
    "patterns are") {
  auto spec = [](const char* type, const char* text) { return FilterSpec{type, "host", text}; };
  FilterSpec grouping = spec("literal_or", "a|b");
  grouping.group_by = true;
  CHECK(Same(grouping, spec("literal_or", "b|a|a")));
  CHECK(Same(spec("iliteral_or", "A|"), spec("iliteral_or", "a")));
  CHECK_FALSE(Same(spec("literal_or", "A"), spec("literal_or", "a")));
  CHECK_FALSE(Same(spec("literal_or", "a"), spec("iliteral_or", "a")));
  CHECK_FALSE(Same(spec("literal_or", "a"), spec("not_literal_or", "a")));
  CHECK(Same(spec("wildcard", "a*"), spec("wildcard", "**a*")));
  CHECK_FALSE(Same(spec("wildcard", "a*"), spec("wildcard", "a*b")));
  CHECK_FALSE(Same(spec("wildcard", "a*"), spec("iwildcard", "a*")));
  CHECK(Same(*LegacyFilter("host", "*", true), spec("iwildcard", "**")));
  CHECK(Same(spec("regexp", "a"), spec("regexp", "a")));
  CHECK_FALSE(Same(spec("regexp", "a"), spec("regexp", "^a")));
  CHECK_FALSE(Same(spec("regexp", "a"), FilterSpec{"regexp", "dc", "a"}));
}

TEST_CASE("very many literals are parsed without comparing all pairs") {
  constexpr int kLiterals = 300000;
  std::string text;
  for (int i = 0; i < kLiterals; ++i) text += std::to_string(i) + "|";
  const auto filter = TagFilter::Compile({"literal_or", "host", text + "7|7"});
  REQUIRE(filter.ok());
  REQUIRE((*filter)->literals().size() == kLiterals);
  CHECK((*filter)->literals()[7] == "7");
}

TEST_CASE("very many values are looked up among very many literals quickly") {
  constexpr int kLiterals = 300000;
  std::string text;
  for (int i = 0; i < kLiterals; ++i) text += "H" + std::to_string(i) + "|";
  const auto one_of = TagFilter::Compile({"literal_or", "host", text});
  const auto none_of = TagFilter::Compile({"not_iliteral_or", "host", text});
  REQUIRE(one_of.ok());
  REQUIRE(none_of.ok());
  int matched = 0;
  for (int i = 0; i < 2 * kLiterals; ++i) {
    const std::string name = "H" + std::to_string(i);
    matched += Matches(**one_of, name) ? 1 : 0;
    matched += Matches(**none_of, name) ? 1 : 0;
  }
  CHECK(matched == 2 * kLiterals);
  CHECK_FALSE(Matches(**one_of, "h1"));
}

TEST_CASE("literals with equal values of std::hash are looked up as quickly as others") {
  std::string text;
  for (const std::string& literal : CollidingTexts(30'000)) text += literal + "|";
  const double seconds = CpuSecondsOf([&] {
    const auto filter = TagFilter::Compile({"literal_or", "host", text});
    REQUIRE(filter.ok());
    CHECK((*filter)->literals().size() == 30'000);
    CHECK(Matches(**filter, text.substr(0, 16)));
  });
  CHECK(seconds < 0.5);  // comparing all pairs takes seconds
}

TEST_CASE("a filter of a request is compiled once, however often it is written") {
  FakeWatch watch;
  FilterSet filters(watch);
  const FilterSpec spec{"regexp", "host", "web\\d+", true};
  const auto first = filters.Get(spec);
  REQUIRE(first.ok());
  const int64_t bytes = watch.bytes;
  CHECK(bytes > 0);
  for (int i = 0; i < 10'000; ++i) CHECK(filters.Get(spec)->get() == first->get());
  CHECK(watch.bytes == bytes);
  const auto other = filters.Get({"regexp", "host", "web\\d+", false});
  CHECK(other->get() != first->get());
}

TEST_CASE("the number of regular expressions of a request is limited, and all are charged") {
  FakeWatch watch;
  FilterSet filters(watch);
  const auto get = [&](size_t i) {
    return filters.Get({"regexp", "host", "web" + std::to_string(i)}).status();
  };
  for (size_t i = 0; i < FilterSet::kRegexpsMax; ++i) REQUIRE(get(i).ok());
  CHECK(get(FilterSet::kRegexpsMax).code() == StatusCode::kInvalidArgument);
  CHECK(watch.bytes > static_cast<int64_t>(FilterSet::kRegexpsMax * 200));
  FakeWatch poor;
  poor.bytes_max = 10'000;
  FilterSet few(poor);
  Status status;
  for (size_t i = 0; i < 100 && status.ok(); ++i)
    status = few.Get({"wildcard", "host", "a*" + std::to_string(i)}).status();
  CHECK(status.code() == StatusCode::kLimitExceeded);
}

TEST_CASE("literals and parts of wildcards are charged before they are parsed") {
  FakeWatch watch;
  watch.bytes_max = 1 << 20;
  const std::string bars(100'000, '|'), stars = "a" + std::string(100'000, '*') + "b";
  for (const FilterSpec& spec :
       {FilterSpec{"literal_or", "host", "a" + bars + "b"}, FilterSpec{"wildcard", "host", stars}})
    CHECK(TagFilter::Compile(spec, watch).status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("the limits of a request are checked while very many literals are read and compared") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "|";
  const FilterSpec spec{"iliteral_or", "host", text};
  FakeWatch before;
  before.steps_max = 0;  // fails at the first step, which is reported before the work
  REQUIRE_FALSE(TagFilter::Compile(spec, before).ok());
  FakeWatch during;
  during.steps_max = before.steps + 1024;
  CHECK(TagFilter::Compile(spec, during).status().code() == StatusCode::kDeadlineExceeded);
  CHECK(during.steps < before.steps + 10'000);  // more steps mean that it did not end at once
  FakeWatch comparing;
  comparing.steps_max = 10'000;
  CHECK(FilterIdentity(spec, comparing).status().code() == StatusCode::kDeadlineExceeded);
  FakeWatch poor;
  poor.bytes_max = static_cast<int64_t>(text.size());
  CHECK(FilterIdentity(spec, poor).status().code() == StatusCode::kLimitExceeded);
  CHECK(poor.bytes == 0);
}

TEST_CASE("a wildcard reports the work of searching for its parts") {
  std::string text = "a";
  for (int i = 0; i < 10'000; ++i) text += "*b";
  const auto filter = TagFilter::Compile({"wildcard", "host", text});
  REQUIRE(filter.ok());
  FakeWatch watch;
  REQUIRE((*filter)->Matches(std::string(1000, 'b'), watch).ok());
  CHECK(watch.steps > 10'000);
}

TEST_CASE("invalid filters are equal only if their texts are equal") {
  const FilterSpec unknown{"no_such", "host", "a"};
  CHECK(Same(unknown, unknown));
  CHECK_FALSE(Same(unknown, {"no_such", "host", "b"}));
  CHECK_FALSE(Same(unknown, {"literal_or", "host", "a"}));
  CHECK_FALSE(Same({"literal_or", "host", "ab"}, {"literal_or", "hosta", "b"}));
}

TEST_CASE("conversion to lower case covers Latin-1") {
  CHECK(LowerUtf8("A\xC3\x84Z") == "a\xC3\xA4z");
  CHECK(LowerUtf8("\xC3\x97") == "\xC3\x97");  // the multiplication sign has no lower case
}

}  // namespace
}  // namespace hg::query
