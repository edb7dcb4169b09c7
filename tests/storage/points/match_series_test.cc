#include "storage/points/match_series.h"

#include <doctest/doctest.h>

#include "tests/support/hex.h"

namespace hg::points {
namespace {

const KeyLayout kLayout;

bool Passes(const SeriesMatcher& matcher, ByteView pairs) {
  return MatchesSeries(matcher, kLayout, Hex("000001"), Hex(pairs));
}

TEST_CASE("bytes that are not whole pairs match only a matcher without conditions") {
  SeriesMatcher all;
  SeriesMatcher absent;
  absent.clauses = {{Hex("000005"), TagClause::Kind::kAbsent, {}}};
  for (const char* cut : {"00", "0000010000", "00000100000100"}) {
    CHECK(Passes(all, cut));
    CHECK_FALSE(Passes(absent, cut));
  }
  CHECK(Passes(absent, ""));
  CHECK(Passes(absent, "000001000001"));
  CHECK_FALSE(Passes(absent, "000001000001000005000001"));
}

TEST_CASE("keys are compared only at pair boundaries") {
  SeriesMatcher matcher;
  matcher.clauses = {{Hex("000002"), TagClause::Kind::kAny, {}}};
  CHECK_FALSE(Passes(matcher, "000001000002"));
  CHECK_FALSE(Passes(matcher, "010000020000"));
  CHECK(Passes(matcher, "000001000001000002000009"));
  matcher.clauses = {{Hex("000001"), TagClause::Kind::kOneOf, {Hex("000003"), Hex("000007")}}};
  CHECK(Passes(matcher, "000001000007"));
  CHECK_FALSE(Passes(matcher, "000001000005000007000003"));
  // An unsorted key may have a tag twice, and one matching value is enough.
  CHECK(Passes(matcher, "000001000005000001000003"));
}

TEST_CASE("exact tags admit no other keys, and a list admits only whole TSUIDs") {
  SeriesMatcher exact;
  exact.exact_tags = true;
  exact.clauses = {{Hex("000001"), TagClause::Kind::kAny, {}}};
  CHECK(Passes(exact, "000001000001"));
  CHECK_FALSE(Passes(exact, "000001000001000002000001"));
  SeriesMatcher listed;
  listed.tsuids = {Hex("000001000001000001"), Hex("000001000001000001000002000001"),
                   Hex("000002000001000003")};
  CHECK(Passes(listed, "000001000001"));
  CHECK(Passes(listed, "000001000001000002000001"));
  CHECK_FALSE(Passes(listed, "000001000003"));
  CHECK_FALSE(Passes(listed, ""));
  CHECK(MatchesTsuid(listed, kLayout, Hex("000002000001000003")));
  CHECK_FALSE(MatchesTsuid(listed, kLayout, Hex("000002000001000001")));
}

}  // namespace
}  // namespace hg::points
