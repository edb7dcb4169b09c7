// Each answer here is one that Java 17 gives.

#include "uid/java_pattern.h"

#include <doctest/doctest.h>

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

TEST_CASE("classes hold classes, and intersect") {
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

TEST_CASE("escapes, groups and flags are Java's") {
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

TEST_CASE("what Java refuses is refused, PCRE2's own among it") {
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

TEST_CASE("a pattern that explodes matches nothing and ends") {
  CHECK_FALSE(Found("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
}

TEST_CASE("classes nested without end are refused") {
  const std::string deep(100000, '[');
  CHECK(JavaPattern::Compile(deep).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a long text is matched as a short one") {
  for (const size_t size : {1'000, 1'100, 10'000, 30'000}) {
    CAPTURE(size);
    std::string text(size, 'a');
    CHECK(Found("^(a|b)*$", text.c_str()));
    text += 'c';
    CHECK_FALSE(Found("^(a|b)*$", text.c_str()));
  }
}

}  // namespace
}  // namespace hg::uid
