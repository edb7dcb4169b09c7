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
}

TEST_CASE("an escape of a character that needs none stays as it is") {
  for (const char* name :
       {"_x0041_", "_x00E9_", "_x005F_", "_x005F__name__", "_x005F_x00_", "_x0000003A_"}) {
    CHECK(UnescapedName(name) == name);
  }
  CHECK(UnescapedName("_x0041__x003A__x0042_") == "_x0041_:_x0042_");
}

TEST_CASE("escaping never produces a marked name, whose first character is escaped needlessly") {
  for (const char* name : {"source", "_", "x", "é"}) {
    const std::string marked = MarkedName(name);
    CHECK(UnescapedName(marked) == marked);
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
    if (!rules.Check("", text).ok()) continue;
    // A client of OpenTSDB's API may write the text itself as a name. It is not taken for another
    // name that needs no escape.
    const std::string shown = UnescapedName(text);
    const bool plain =
        rules.Check("", shown).ok() && FitsLatin1(shown) && shown.find("_x") == std::string::npos;
    REQUIRE_MESSAGE((!plain || shown == text), text);
  }
  CHECK(texts.size() == names.size());
}

}  // namespace hg
