#include "storage/hbase/filter_bytes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "storage/hbase/filter_messages.h"
#include "storage/points/filter_row.h"
#include "storage/thrift2/cell_filter.h"

namespace hg::hbase {
namespace {

// hbase-backend.md §7: computed with protoc, and tested on HBase.
TEST_CASE("filters have the bytes that HBase reads") {
  CHECK(ToHex(RegexKeyFilter(Bytes("(?s)^.{7}\\Q\0\0\xC8\\E.{3}$", 21))) ==
        "0a286f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e526f7746696c7465721264"
        "0a620802125e0a346f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e5265676578"
        "537472696e67436f6d70617261746f7212260a16283f73295e2e7b377d5c510000c3885c452e7b337d241000"
        "1a0a49534f2d383835392d31");
  CHECK(ToHex(FuzzyKeyFilter(Bytes("\0\0\1\0\0\0\0\0\0\1\0\0\x0A", 13),
                             Bytes("\0\0\0\1\1\1\1\0\0\0\0\0\0", 13))) ==
        "0a2d6f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e46757a7a79526f7746696c"
        "74657212200a1e0a0d0000010000000000000100000a120d00000001010101000000000000");
  CHECK(ToHex(ColumnRangeFilter(Bytes(1, '\0'), true, Bytes("\x80\0", 2), false)) ==
        "0a306f72672e6170616368652e6861646f6f702e68626173652e66696c7465722e436f6c756d6e52616e6765"
        "46696c746572120b0a010010011a0280002000");
}

RowFilter Compare(RowFilter::Comparator comparator, Bytes operand) {
  RowFilter filter;
  filter.kind = RowFilter::Kind::kCompareKey;
  filter.comparator = comparator;
  filter.operand = std::move(operand);
  return filter;
}

RowFilter Join(RowFilter::Kind kind, std::vector<RowFilter> children) {
  RowFilter filter;
  filter.kind = kind;
  filter.children = std::move(children);
  return filter;
}

TEST_CASE("conditions that HBase cannot evaluate are left out of an AND, and cancel an OR") {
  const RowFilter known = Compare(RowFilter::Comparator::kBytes, "k");
  const RowFilter unknown = Compare(RowFilter::Comparator::kBitAnd, "k");
  CHECK(FilterBytes({}, {}).empty());
  CHECK(FilterBytes({}, unknown).empty());
  CHECK(KeyFilterBytes(Join(RowFilter::Kind::kAnd, {known, unknown})) == KeyFilterBytes(known));
  CHECK_FALSE(KeyFilterBytes(Join(RowFilter::Kind::kOr, {known, unknown})));
  CHECK(KeyFilterBytes(Join(RowFilter::Kind::kOr, {known, known})));
  CHECK_FALSE(KeyFilterBytes(Join(RowFilter::Kind::kAnd, {})));
  CHECK_FALSE(KeyFilterBytes(Join(RowFilter::Kind::kOr, {})));
}

TEST_CASE("a filter with a key template is not sent with a descending scan") {
  RowFilter filter;
  filter.kind = RowFilter::Kind::kTemplate;
  filter.operand = "ab";
  filter.mask = Bytes("\0\1", 2);
  CHECK_FALSE(FilterBytes({}, filter).empty());
  CHECK(FilterBytes({}, filter, true).empty());
}

TEST_CASE("values are fetched if a filter needs them") {
  CellSelection wanted;
  wanted.keys_only = true;
  CHECK_FALSE(FilterBytes(wanted, {}).empty());
  RowFilter by_value;
  by_value.kind = RowFilter::Kind::kColumnValue;
  CHECK(FilterBytes(wanted, by_value).empty());
}

// Few ids, with bytes that have a meaning in regular expressions.
Bytes Id(std::mt19937& random) {
  const Bytes odd("\x0A\x0D\x85\\E\xFF\0[", 8);
  Bytes id;
  for (int i = 0; i < 3; ++i) id.push_back(odd[random() % (i == 0 ? odd.size() : 2)]);
  return id;
}

SeriesMatcher RandomMatcher(std::mt19937& random) {
  SeriesMatcher matcher;
  for (size_t n = random() % 4; n > 0; --n) {
    TagClause clause;
    clause.tagk = Id(random);
    clause.kind = static_cast<TagClause::Kind>(random() % 3);
    if (clause.kind == TagClause::Kind::kOneOf) {
      for (size_t v = random() % 4; v > 0; --v) clause.values.push_back(Id(random));
      std::sort(clause.values.begin(), clause.values.end());
      clause.values.erase(std::unique(clause.values.begin(), clause.values.end()),
                          clause.values.end());
    }
    matcher.clauses.push_back(std::move(clause));
  }
  std::stable_sort(matcher.clauses.begin(), matcher.clauses.end(),
                   [](const TagClause& a, const TagClause& b) { return a.tagk < b.tagk; });
  matcher.exact_tags = random() % 3 == 0;
  return matcher;
}

// The client never sees rows that a region filters out, so every wanted row must pass. In a regular
// expression the end may also be before a last line break, so keys with broken pairs pass too.
TEST_CASE(
    "the key filter passes all rows that the matcher selects, and no other rows whose keys "
    "end with a complete tag pair") {
  std::mt19937 random(23);
  KeyLayout layout;
  layout.salt_width = 1;
  size_t wanted = 0, seen = 0;
  for (int round = 0; round < 400; ++round) {
    RowFilter filter;
    filter.kind = RowFilter::Kind::kSeries;
    filter.layout = layout;
    filter.series = RandomMatcher(random);
    std::vector<Bytes> keys;
    for (int i = 0; i < 100; ++i) {
      Bytes key(1 + 3 + 4, '\n');
      for (size_t n = random() % 4; n > 0; --n) key += Id(random) + Id(random);
      if (random() % 9 == 0) key.push_back('\n');
      keys.push_back(key);
    }
    if (random() % 4 == 0) {
      for (size_t n = 1 + random() % 3; n > 0; --n) {
        const Bytes& key = keys[random() % keys.size()];
        filter.series.tsuids.push_back(key.substr(1, 3) + key.substr(8));
      }
      std::sort(filter.series.tsuids.begin(), filter.series.tsuids.end());
    }
    const auto bytes = KeyFilterBytes(filter);
    if (!bytes) continue;
    auto gateway = thrift2::ReadCellFilter(*bytes);
    REQUIRE(gateway.ok());
    for (const Bytes& key : keys) {
      Cell cell;
      (*gateway)->StartRow();
      const bool passes = *(*gateway)->Passes(key, &cell, &RequestContext::Unlimited());
      const bool wants = points::RowPasses(filter, key, {});
      const bool whole = (key.size() - 8) % 6 == 0;
      if (whole || wants) REQUIRE(passes == wants);
      ++seen;
      wanted += wants;
    }
  }
  CHECK(wanted > seen / 20);
  CHECK(wanted < seen / 2);
}

TEST_CASE("a very long pattern is not sent") {
  SeriesMatcher matcher;
  TagClause clause;
  clause.tagk = Bytes("\0\0\1", 3);
  clause.kind = TagClause::Kind::kOneOf;
  for (uint64_t i = 0; i < 10'000; ++i) AppendBig(&clause.values.emplace_back(), i, 3);
  matcher.clauses.push_back(clause);
  CHECK_FALSE(SeriesPattern(matcher, KeyLayout()));
  matcher.clauses[0].values.resize(100);
  CHECK(SeriesPattern(matcher, KeyLayout()));
}

}  // namespace
}  // namespace hg::hbase
