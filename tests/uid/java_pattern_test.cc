// Each result here is that of Java 17.

#include "uid/java_pattern.h"

#include <doctest/doctest.h>

#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"

namespace hg::uid {
namespace {

bool Found(const char* pattern, const char* text) {
  const auto compiled = JavaPattern::Compile(pattern);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  return (*compiled)->Search(text);
}

struct Case {
  const char* pattern;
  const char* text;
  bool found;
};

void CheckAll(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    CAPTURE(std::string(c.pattern));
    CAPTURE(std::string(c.text));
    CHECK(Found(c.pattern, c.text) == c.found);
  }
}

TEST_CASE("classes may be nested and intersected") {
  CheckAll({
      {R"re([a-z&&[^b]])re", "b", false},
      {R"re([a-z&&[^b]])re", "c", true},
      {R"re([a-z&&[def]])re", "e", true},
      {R"re([a-z&&[def]])re", "a", false},
      {R"re([a-z&&def])re", "a", false},
      {R"re([a-z&&def])re", "f", true},
      {R"re(^[a-d[m-p]]+$)re", "adm", true},
      {R"re(^[a-d[m-p]]+$)re", "ae", false},
      {R"re([^a-b[c-d]])re", "c", false},
      {R"re([^a-b[c-d]])re", "e", true},
      {R"re([a-z&&[^m-p]&&[^a-c]])re", "b", false},
      {R"re([a-z&&[^m-p]&&[^a-c]])re", "d", true},
      {R"re([a-c&&b-dx])re", "x", false},
      {R"re([a-c&&b-dx])re", "b", true},
      {R"re([abc&&^b])re", "a", false},
      {R"re([abc&&^b])re", "b", true},
      {R"re([a&b])re", "&", true},
      {R"re(^[^&&a]$)re", "b", true},
      {R"re([\w&&[^\d_]])re", "5", false},
      {R"re([\w&&[^\d_]])re", "x", true},
      {R"re([\W&&\S])re", "-", true},
      {R"re([\W&&\S])re", "a", false},
      {R"re([]a])re", "]", true},
      {R"re([a-])re", "-", true},
      {R"re([-a])re", "-", true},
      {R"re([\]])re", "]", true},
      {R"re([\-a])re", "-", true},
      {R"re([a\-z])re", "b", false},
      {R"re([\D])re", "a", true},
      {R"re([\D1])re", "1", true},
      {R"re([^\D])re", "a", false},
      {R"re([^\D])re", "7", true},
      {R"re([^\p{Alpha}])re", "a", false},
      {R"re([\P{Alpha}])re", "1", true},
      {R"re([\Q]\E])re", "]", true},
      {R"re([a&&])re", "a", true},
      {R"re([&&a])re", "a", true},
      {R"re([\d-z])re", "-", true},
      {R"re([a&&b&&c])re", "a", false},
      {R"re([[a-z]&&[b]])re", "b", true},
      {R"re([[a-z][A-Z]&&[bB]])re", "B", true},
      {R"re([[a-z][A-Z]&&[bB]])re", "a", false},
      {R"re([^[a]])re", "a", false},
      {R"re([^[a]])re", "b", true},
      {R"re([^[^a]])re", "a", true},
      {R"re([^^a])re", "^", false},
      {R"re([a^])re", "^", true},
      {R"re([.])re", "x", false},
      {R"re([$])re", "$", true},
      {R"re([|])re", "|", true},
      {R"re([(])re", "(", true},
      {R"re([é])re", "é", true},
      {R"re([à-ü])re", "é", true},
      {R"re(^[\p{L}&&[^\p{Lu}]]$)re", "a", true},
      {R"re(^[\p{L}&&[^\p{Lu}]]$)re", "A", false},
      {R"re([\p{Punct}&&[^-]])re", "-", false},
      {R"re([\p{Punct}&&[^-]])re", ".", true},
      {R"re([a-zA-Z0-9&&[^aeiou]]{3})re", "xyz", true},
      {R"re(web[0-9&&[^5]])re", "web5", false},
      {R"re(web[0-9&&[^5]])re", "web6", true},
      {R"re(^(?!db)[a-z&&[^x-z]]+)re", "db1", false},
      {R"re([&])re", "&", true},
      {R"re([a&&&b])re", "b", true},
      {R"re([a&&&&b])re", "b", false},
  });
}

TEST_CASE("properties have Java's names") {
  CheckAll({
      {R"re(\p{Lower})re", "a", true},
      {R"re(\p{Lower})re", "A", false},
      {R"re(\P{Lower})re", "A", true},
      {R"re(\p{IsAlphabetic})re", "é", true},
      {R"re(\p{Alpha})re", "é", false},
      {R"re(\p{IsLatin})re", "é", true},
      {R"re(\p{L})re", "é", true},
      {R"re(\pL)re", "7", false},
      {R"re(\p{Lu})re", "A", true},
      {R"re(\p{javaLowerCase})re", "a", true},
      {R"re(\p{IsDigit})re", "7", true},
      {R"re(\p{InGreek})re", "α", true},
      {R"re(\p{InGreek})re", "a", false},
      {R"re(\p{script=Greek})re", "α", true},
      {R"re(\p{gc=Lu})re", "A", true},
  });
}

TEST_CASE("escapes, groups and flags work as in Java") {
  CheckAll({
      {R"re(\w)re", "é", false},
      {R"re((?U)\w)re", "é", true},
      {R"re(^\w+\b)re", "aé", false},
      {R"re(\bb)re", "éb", false},
      {R"re(\bb)re", "-b", true},
      {R"re(a\B)re", "ab", true},
      {R"re(\Qa.b\E)re", "axb", false},
      {R"re(\Qa.b\E)re", "a.b", true},
      {R"re(\u0041)re", "A", true},
      {R"re(\x41)re", "A", true},
      {R"re(\x{41})re", "A", true},
      {R"re(\0101)re", "A", true},
      {R"re(\cA)re", "x", false},
      {R"re((a)\1)re", "aa", true},
      {R"re((a)\11)re", "aa1", true},
      {R"re((?<n>a)\k<n>)re", "aa", true},
      {R"re((?d)a)re", "a", true},
      {R"re((?u)a)re", "a", true},
      {R"re((?i:A)b)re", "ab", true},
      {R"re((?i)a(?-i)B)re", "Ab", false},
      {R"re(})re", "}", true},
      {R"re(a})re", "a}", true},
      {R"re(a{2})re", "aa", true},
      {R"re(a{2,})re", "aaa", true},
      {R"re(])re", "]", true},
      {R"re(a*+)re", "a", true},
      {R"re(a++)re", "a", true},
      {R"re(\_)re", "_", true},
      {R"re(\-)re", "-", true},
      {R"re(\h)re", "a", false},
      {R"re(\R)re", "a", false},
      {R"re(\X)re", "é", true},
      {R"re(a\z)re", "a", true},
      {R"re(a\Z)re", "a", true},
      {R"re(x|)re", "y", true},
      {R"re(a|b&&c)re", "a", true},
      {R"re((?<=a)b)re", "ab", true},
      {R"re((?<!a)b)re", "ab", false},
      {R"re((?>a+)b)re", "aab", true},
      {R"re(.)re", "é", true},
      {R"re((?x) a b # c)re", "ab", true},
      {R"re(\ca)re", "!", true},
  });
}

TEST_CASE("patterns that Java refuses are refused, and so is PCRE2's own syntax") {
  for (const char* pattern : {
           R"re(\p{lower})re", R"re(\p{Foo})re", R"re((?n)a)re",  R"re((?J)a)re",
           R"re((?R))re",      R"re((?1)(a))re", R"re((?#x)a)re", R"re((?P<n>a))re",
           R"re((*UTF)a)re",   R"re(a{)re",      R"re(a{b)re",    R"re({)re",
           R"re(a{,2})re",     R"re(a{1,2)re",   R"re(*a)re",     R"re(a**)re",
           R"re(\y)re",        R"re(\E)re",      R"re(\C)re",     R"re(\N)re",
           R"re(\K)re",        R"re([a)re",      R"re([a&&)re",   R"re([a[b])re",
           R"re([z-a])re",     R"re([a-\d])re",  R"re([&&&a])re",
       }) {
    CAPTURE(std::string(pattern));
    const Status refused = JavaPattern::Compile(pattern).status();
    CHECK(refused.code() == StatusCode::kInvalidArgument);
    CHECK(refused.message().find(pattern) != std::string_view::npos);
  }
}

TEST_CASE("a search with a pattern of exponential cost ends without a match") {
  CHECK_FALSE(Found("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
}

// Without a limit of steps, searches with these patterns can take minutes.
constexpr const char* kHeavyPatterns[] = {
    "(?:a|aa|aaa)+[bc]",  "(a*)(a*)(a*)(a*)\\1\\2\\3[bc]",
    "(?:(a+)\\1*)+[bc]",  "(?i)(a+)(a+)\\1\\2[bc]",
    "((a*)*)*[bc]",       "(?:(?=.*x)|(?=.*y)|a)*[bc]",
    "(?:a*+[xy]|a)*[bc]", "(?:a?){100}a{100}[bc]",
};

TEST_CASE("a match that takes too many steps is an error that names the pattern") {
  for (const size_t size : {200, 4'000, 30'000}) {
    const std::string text(size, 'a');
    for (const char* pattern : kHeavyPatterns) {
      CAPTURE(std::string(pattern));
      CAPTURE(size);
      const auto compiled = JavaPattern::Compile(pattern);
      REQUIRE(compiled.ok());
      FakeWatch watch;
      Status status;
      CHECK(CpuSecondsOf([&] { status = (*compiled)->Search(text, watch).status(); }) < 1);
      if (status.ok()) continue;
      CHECK(status.code() == StatusCode::kLimitExceeded);
      CHECK(status.message().find(pattern) != std::string_view::npos);
      CHECK(watch.steps > 1'000'000);
    }
  }
}

TEST_CASE("a running match ends when its request ends") {
  const std::string text(30'000, 'a');
  for (const char* pattern : {"(?:a|aa|aaa)+[bc]", "(a*)(a*)(a*)(a*)\\1\\2\\3[bc]"}) {
    CAPTURE(std::string(pattern));
    const auto compiled = JavaPattern::Compile(pattern);
    REQUIRE(compiled.ok());
    FakeWatch watch;
    watch.steps_max = 100'000;
    CHECK((*compiled)->Search(text, watch).status().code() == StatusCode::kDeadlineExceeded);
    CHECK(watch.steps < 300'000);
  }
}

TEST_CASE(
    "searches in several values report their steps, which add up to the limit of the request") {
  const auto compiled = JavaPattern::Compile("(?:a|aa|aaa)+[bc]");
  REQUIRE(compiled.ok());
  FakeWatch watch;
  watch.steps_max = 20'000'000;
  int values = 0;
  const double seconds = CpuSecondsOf([&] {
    for (; values < 1000; ++values) {
      const std::string text = std::string(200, 'a') + std::to_string(values);
      const Result<bool> found = (*compiled)->Search(text, watch);
      if (found.status().code() == StatusCode::kDeadlineExceeded) break;
    }
  });
  CHECK(values < 1000);
  CHECK(seconds < 1);
}

TEST_CASE("machine code and interpreter give the same results") {
  const auto compiled = JavaPattern::Compile("^web(\\d+)\\.(lon|ams)");
  REQUIRE(compiled.ok());
  FakeWatch watch;
  for (int i = 0; i < 1000; ++i) {
    CAPTURE(i);
    const std::string text = "web" + std::to_string(i) + (i % 2 == 0 ? ".ams" : ".fra");
    const Result<bool> found = (*compiled)->Search(text, watch);
    REQUIRE(found.ok());
    CHECK(*found == (i % 2 == 0));
  }
  CHECK(watch.bytes > 0);
}

TEST_CASE("compiled patterns and the memory of matches are charged") {
  FakeWatch watch;
  REQUIRE(JavaPattern::Compile("(a|b)*c", watch).ok());
  CHECK(watch.bytes > 100);
  CHECK(watch.steps > 0);
  FakeWatch poor;
  poor.bytes_max = 100;
  CHECK(JavaPattern::Compile("(a|b)*c", poor).status().code() == StatusCode::kLimitExceeded);
  const auto compiled = JavaPattern::Compile("^(a|b)*$");
  REQUIRE(compiled.ok());
  FakeWatch little;
  little.bytes_max = 1 << 20;
  CHECK((*compiled)->Search(std::string(30'000, 'a'), little).status().code() ==
        StatusCode::kLimitExceeded);
  CHECK(little.bytes_most <= 1 << 20);
}

TEST_CASE("a pattern with too many bytes is refused") {
  const std::string text(WatchedRegex::kPatternBytesMax + 1, 'a');
  const Status refused = JavaPattern::Compile(text).status();
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message().find("at most 65536") != std::string_view::npos);
}

TEST_CASE("splitting a long text by an expensive pattern ends") {
  for (const char* pattern : kHeavyPatterns) {
    CAPTURE(std::string(pattern));
    const auto compiled = JavaPattern::Compile(pattern);
    REQUIRE(compiled.ok());
    const std::string text = std::string(10'000, 'a') + "b" + std::string(20'000, 'a');
    std::vector<std::string> pieces;
    CHECK(CpuSecondsOf([&] { pieces = *(*compiled)->Split(text, RequestContext::Unlimited()); }) <
          1);
    CHECK(!pieces.empty());
  }
  const auto dot = JavaPattern::Compile("\\.");
  std::string dots;
  for (int i = 0; i < 10'000; ++i) dots += "a.";
  CHECK((*dot)->Split(dots, RequestContext::Unlimited())->size() == 10'000);
}

TEST_CASE("classes that are nested too deeply are refused") {
  const std::string deep(100000, '[');
  CHECK(JavaPattern::Compile(deep).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a class of very many parts is refused, because each part copies those before it") {
  for (const char* part : {"[a]", "\\P{L}"}) {
    CAPTURE(part);
    const auto pattern = [part](int count) {
      std::string text = "[";
      for (int i = 0; i < count; ++i) text += part;
      return text + "]";
    };
    CHECK(JavaPattern::Compile(pattern(100)).ok());
    CHECK(JavaPattern::Compile(pattern(2000)).status().code() == StatusCode::kInvalidArgument);
  }
}

TEST_CASE("a long text is matched like a short one") {
  for (const size_t size : {1'000, 1'100, 10'000, 30'000}) {
    CAPTURE(size);
    std::string text(size, 'a');
    CHECK(Found("^(a|b)*$", text.c_str()));
    text += 'c';
    CHECK_FALSE(Found("^(a|b)*$", text.c_str()));
  }
}

TEST_CASE("a running split ends when its request ends") {
  const auto dot = JavaPattern::Compile("\\.");
  REQUIRE(dot.ok());
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "a.";
  FakeWatch request;
  request.steps_max = 100'000;
  CHECK_FALSE((*dot)->Split(text, request).ok());
}

}  // namespace
}  // namespace hg::uid
