#include "storage/model/escaped_name.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "storage/model/utf8.h"

namespace hg {
TEST_CASE("names of other ingestion protocols are escaped to legal ones and back") {
  const NameRules rules, with_colon(":");
  const struct {
    const char* name;
    const char* escaped;
  } vectors[] = {
      {"", ""},
      {"cpu-total_0./x", "cpu-total_0./x"},
      {"C:", "C_x003A_"},
      {"a b", "a_x0020_b"},
      {"café", "café"},
      {"温度", "_x6E29__x5EA6_"},
      {"😀", "_x0001F600_"},
      {"_x003A_", "_x005F_x003A_"},
      {"_x003A:", "_x005F_x003A_x003A_"},
      {"_x00:", "_x00_x003A_"},
      {"__:", "___x003A_"},
      {"_x0001F600", "_x005F_x0001F600"},
      {"_xface", "_xface"},
  };
  for (const auto& v : vectors) {
    CAPTURE(v.name);
    std::string escaped;
    REQUIRE(AppendEscapedName(v.name, rules, &escaped));
    CHECK(escaped == v.escaped);
    CHECK(UnescapedName(escaped) == v.name);
    if (!escaped.empty()) CHECK(rules.Check("metric name", escaped).ok());
  }
  std::string out;
  REQUIRE(AppendEscapedName("C:", with_colon, &out));
  CHECK(out == "C:");
  CHECK_FALSE(AppendEscapedName("a\xFF", rules, &out));
}

TEST_CASE("text that is not an escape stays as it is") {
  for (const char* name : {"a", "_", "_x", "_x003", "_x003A", "_x003A-", "_x003a_", "_x00003A_",
                           "_xD800_", "_x00110000_", "x003A_"}) {
    CHECK(UnescapedName(name) == name);
  }
  CHECK(UnescapedName("_x0041_bc_x0000003A_") == "Abc:");
}

TEST_CASE("a marked name is read as the name and cannot result from another name") {
  for (const char* name : {"source", "_", "x", "é"}) {
    const std::string marked = MarkedName(name);
    CHECK(UnescapedName(marked) == name);
    CHECK(NameRules().Check("tag name", marked).ok());
    std::string escaped;
    REQUIRE(AppendEscapedName(name, NameRules(), &escaped));
    CHECK(escaped != marked);
  }
  CHECK(MarkedName("source") == "_x0073_ource");
}

// Texts whose characters could be confused with each other.
TEST_CASE("every text is restored, and its legal name is unique") {
  const NameRules rules;
  std::mt19937 random(7);
  constexpr char32_t kAlphabet[] = {'_', 'x', '0', '5', 'F', 'a', ':', 0xE9, 0x20AC, 0x1F600};
  std::set<std::string> texts, names;
  for (int i = 0; i < 20000; ++i) {
    std::string text, name;
    for (size_t n = 1 + random() % 14; n > 0; --n)
      AppendCodePoint(&text, kAlphabet[random() % std::size(kAlphabet)]);
    REQUIRE(AppendEscapedName(text, rules, &name));
    REQUIRE_MESSAGE(UnescapedName(name) == text, text);
    REQUIRE(rules.Check("metric name", name).ok());
    REQUIRE(FitsLatin1(name));
    texts.insert(text);
    names.insert(name);
  }
  CHECK(texts.size() == names.size());
}

}  // namespace hg
