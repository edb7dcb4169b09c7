#include "storage/model/escaped_name.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "storage/model/utf8.h"

namespace hg {
namespace {

/// Reads escapes from the left, as whoever wants the name back does.
std::string Unescaped(std::string_view text) {
  std::string name;
  while (!text.empty()) {
    const size_t digits = std::min(text.find_first_not_of("0123456789ABCDEF", 2), text.size()) - 2;
    if (text.starts_with("_x") && (digits == 4 || digits == 8) && text.substr(2 + digits, 1) == "_") {
      AppendCodePoint(&name, static_cast<char32_t>(
                                 std::stoul(std::string(text.substr(2, digits)), nullptr, 16)));
      text.remove_prefix(digits + 3);
    } else {
      name += text[0];
      text.remove_prefix(1);
    }
  }
  return name;
}

}  // namespace

TEST_CASE("names of other languages are escaped into legal ones, and come back") {
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
    CHECK(Unescaped(escaped) == v.name);
    if (!escaped.empty()) CHECK(rules.Check("metric name", escaped).ok());
  }
  std::string out;
  REQUIRE(AppendEscapedName("C:", with_colon, &out));
  CHECK(out == "C:");
  CHECK_FALSE(AppendEscapedName("a\xFF", rules, &out));
}

}  // namespace hg
