#include "http/wire/percent.h"

#include <doctest/doctest.h>

namespace hg::http {
namespace {

using Items = std::vector<std::pair<std::string, std::string>>;

TEST_CASE("pairs of a query string are split at & and ; and decoded") {
  Parameters parameters;
  REQUIRE(ParseQueryString("a=1&b;c=x+y%20z&=no&d=%C3%a9=", &parameters, nullptr));
  CHECK(parameters.items() == Items{{"a", "1"}, {"b", ""}, {"c", "x y z"}, {"d", "\xC3\xA9="}});
  for (const char* bad : {"a=%", "a=%2", "a=%zz", "%=1"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseQueryString(bad, &parameters, nullptr));
  }
}

TEST_CASE("bytes that are not UTF-8 become the replacement character, escaped or not") {
  Parameters parameters;
  REQUIRE(ParseQueryString("m=sum:%ff&\xC3=%c3%28", &parameters, nullptr));
  CHECK(parameters.items() == Items{{"m", "sum:\xEF\xBF\xBD"}, {"\xEF\xBF\xBD", "\xEF\xBF\xBD("}});
}

}  // namespace
}  // namespace hg::http
