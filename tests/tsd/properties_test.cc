#include "tsd/properties.h"

#include <doctest/doctest.h>

namespace hg::tsd {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST_CASE("a key ends at an equals sign, a colon or a blank") {
  CHECK(ParseProperties("a=1\nb:2\nc 3\n d \t = 4\ne") ==
        Pairs{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", ""}});
}

TEST_CASE("only one separator is skipped, and the next one belongs to the value") {
  CHECK(ParseProperties("a == 1\nb = :2\nc  =  x = y ") ==
        Pairs{{"a", "= 1"}, {"b", ":2"}, {"c", "x = y "}});
}

TEST_CASE("comments and empty lines are ignored, with any line ends") {
  CHECK(ParseProperties("# a=1\r\n  ! b=2\r\r\n\n  \nc=3\rd=4") == Pairs{{"c", "3"}, {"d", "4"}});
}

TEST_CASE("an odd number of backslashes at its end joins a line to the next one") {
  CHECK(ParseProperties("a = one, \\\n    two\nb = x\\\\\nc = 3") ==
        Pairs{{"a", "one, two"}, {"b", "x\\"}, {"c", "3"}});
  CHECK(ParseProperties("a = end\\") == Pairs{{"a", "end"}});
}

TEST_CASE("a comment is not continued") {
  CHECK(ParseProperties("# a \\\nb = 1") == Pairs{{"b", "1"}});
}

TEST_CASE("escapes in keys and values are those of Java") {
  CHECK(ParseProperties("a\\ b\\=c = \\t\\n\\u0041\\x\\:\\\\") == Pairs{{"a b=c", "\t\nAx:\\"}});
}

TEST_CASE("an escape beyond ISO-8859-1 becomes a question mark, and others become their byte") {
  CHECK(ParseProperties("a = \\u00e9\\u6e29") == Pairs{{"a", "\xe9?"}});
}

TEST_CASE("other bytes are unchanged, and a key may occur twice") {
  CHECK(ParseProperties("a=\xc3\xa9\na=2") == Pairs{{"a", "\xc3\xa9"}, {"a", "2"}});
}

}  // namespace
}  // namespace hg::tsd
