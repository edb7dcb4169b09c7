#include "storage/model/name_text.h"

#include <doctest/doctest.h>

#include "storage/model/utf8.h"

namespace hg {
namespace {

TEST_CASE("names are letters of any script, digits, and - _ . /") {
  const NameRules rules;
  for (const char* name : {"a", "A", "0", "a-b_c.d/e", "-_./", "ümlaut", "température", "温度",
                           "한글", "aΩb", "ﬁ", "İ", "Ā", "ª", "ǅ"}) {
    CAPTURE(name);
    CHECK(rules.Check("metric name", name).ok());
  }
}

TEST_CASE("an illegal character is refused and named in the error") {
  const NameRules rules;
  const struct {
    const char* name;
    const char* message;
  } vectors[] = {
      {"", "Invalid metric name: empty string"},
      {"room temp", "Invalid metric name (\"room temp\"): illegal character:  "},
      {"a:b", "Invalid metric name (\"a:b\"): illegal character: :"},
      {"€", "Invalid metric name (\"€\"): illegal character: €"},
      {"²", "Invalid metric name (\"²\"): illegal character: ²"},
      {"٣", "Invalid metric name (\"٣\"): illegal character: ٣"},
      {"á́", "Invalid metric name (\"á́\"): illegal character: ́"},  // a combining mark
  };
  for (const auto& v : vectors) {
    const Status status = rules.Check("metric name", v.name);
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message() == v.message);
  }
  CHECK(rules.Check("tag value with key [site]", "b 1").message() ==
        "Invalid tag value with key [site] (\"b 1\"): illegal character:  ");
  CHECK_FALSE(rules.Check("metric name", "𝒳").ok());  // a letter, but beyond the basic plane
  CHECK_FALSE(rules.Check("metric name", "😀").ok());
  CHECK_FALSE(rules.Check("metric name", std::string("a\0b", 3)).ok());
  CHECK_FALSE(rules.Check("metric name", "a\xFF").ok());
  CHECK_FALSE(rules.Check("metric name", "a\xC3").ok());
}

TEST_CASE("extra characters may be allowed, in ASCII and beyond") {
  const NameRules rules(":@ #€?~+");
  for (const char* name : {"a b", "a:b", " lead", "€", "a?b"})
    CHECK(rules.Check("metric name", name).ok());
  CHECK_FALSE(rules.Check("metric name", "a=b").ok());
}

TEST_CASE("a character is legal if and only if it is a legal name") {
  for (const NameRules& rules : {NameRules(), NameRules(":€")}) {
    for (char32_t c = 0; c < 0x11000; ++c) {
      if (c >= 0xD800 && c <= 0xDFFF) continue;
      std::string name;
      AppendCodePoint(&name, c);
      if (rules.IsLegal(c) != rules.Check("", name).ok()) FAIL_CHECK(static_cast<uint32_t>(c));
    }
  }
}

TEST_CASE("letters of known scripts are accepted, and neighbouring characters are not") {
  for (char32_t c : {U'z', U'é', U'ÿ', U'Ω', U'я', U'א', U'あ', U'中', U'ﬁ'})
    CHECK(IsUnicodeLetter(c));
  for (char32_t c : {U'0', U'×', U'÷', U'²', U'٣', U'€', char32_t{0x0301}, char32_t{0xD800},
                     char32_t{0x1D4B3}, char32_t{0x80}}) {
    CHECK_FALSE(IsUnicodeLetter(c));
  }
}

TEST_CASE("stored names are ISO-8859-1, with ? for other characters (opentsdb-schema.md §23.6)") {
  CHECK(ToHexUpper(ToLatin1("température")) == "74656D70E9726174757265");
  CHECK(ToHexUpper(ToLatin1("温度")) == "3F3F");
  CHECK(ToHexUpper(ToLatin1("😀")) == "3F");
  CHECK(FromLatin1(ToLatin1("température")) == "température");
  CHECK(FitsLatin1("température"));
  CHECK_FALSE(FitsLatin1("温度"));
  for (int c = 0; c < 256; ++c) {
    const Bytes byte(1, static_cast<char>(c));
    CHECK(ToLatin1(FromLatin1(byte)) == byte);
  }
}

TEST_CASE("code points are converted to UTF-8 and back, and invalid bytes one by one") {
  for (char32_t c = 0; c <= 0x10FFFF; c += 7) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    AppendCodePoint(&text, c);
    std::string_view rest = text;
    bool valid = true;
    REQUIRE(TakeCodePoint(&rest, &valid) == c);
    REQUIRE(valid);
    REQUIRE(rest.empty());
  }
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\xF8", "\xE2\x82"}) {
    std::string_view rest = bad;
    const size_t before = rest.size();
    bool valid = true;
    CHECK(TakeCodePoint(&rest, &valid) == kReplacementCharacter);
    CHECK_FALSE(valid);
    CHECK(rest.size() == before - 1);
  }
}

}  // namespace
}  // namespace hg
