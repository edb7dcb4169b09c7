// Filters of scans in HBase's filter language.

#include "storage/points/filter_text.h"

#include <doctest/doctest.h>

#include "storage/points/filter_row.h"

namespace hg::points {
namespace {

std::string Failure(std::string_view text) {
  ScanSpec spec;
  const auto filter = ApplyFilterText(text, &spec);
  CHECK_FALSE(filter.ok());
  return std::string(filter.status().message());
}

using Rows = std::vector<std::pair<std::string, std::string>>;

// Returns the keys of the rows that pass. Each row has one cell f:q.
std::string Passing(std::string_view text, const Rows& rows) {
  ScanSpec spec;
  auto filter = ApplyFilterText(text, &spec);
  INFO(filter.status().message());
  REQUIRE(filter.ok());
  std::string keys;
  for (const auto& [key, value] : rows) {
    const std::vector<Cell> cells = {{"f", "q", value, 1}};
    if (RowPasses(spec.filter, key, cells) && filter->rows.Passes(key, cells)) keys += key + " ";
  }
  return keys;
}

TEST_CASE("AND binds more tightly than OR, and parentheses more than both") {
  const Rows rows = {{"a", "1"}, {"b", "2"}, {"c", "1"}};
  const std::string one = "SingleColumnValueFilter('f', 'q', =, 'binary:1')";
  CHECK(Passing(one, rows) == "a c ");
  CHECK(Passing("PrefixFilter('b') OR PrefixFilter('c') AND " + one, rows) == "b c ");
  CHECK(Passing("(PrefixFilter('b') OR PrefixFilter('c')) AND " + one, rows) == "c ");
  CHECK(Passing("RowFilter(<, 'binary:b') OR RowFilter(>, 'binary:b')", rows) == "a c ");
}

TEST_CASE("a PageFilter inside OR counts the rows that only it lets pass") {
  const Rows rows = {{"a", "0"}, {"b", "1"}, {"c", "0"}, {"d", "1"}, {"e", "0"}};
  CHECK(Passing("PageFilter(2) OR SingleColumnValueFilter('f','q',=,'binary:1')", rows) ==
        "a b c d ");
  CHECK(Passing("RowFilter(=,'binary:e') OR (RowFilter(>,'binary:a') AND PageFilter(1))", rows) ==
        "b e ");
}

TEST_CASE("filters of columns and rows restrict the scan") {
  ScanSpec spec;
  REQUIRE(ApplyFilterText("PrefixFilter('r\\x01') AND PageFilter(10) AND PageFilter(7) AND "
                          "ColumnRangeFilter('a', false, 'b''', true) AND KeyOnlyFilter() AND "
                          "FamilyFilter(=, 'binary:f') AND ColumnPrefixFilter('a')",
                          &spec)
              .ok());
  CHECK(spec.start == "r\x01");
  CHECK(spec.stop == "r\x02");
  CHECK(spec.limit_rows == 7);
  CHECK(spec.column_min == Bytes("a\0", 2));
  CHECK(spec.column_max == Bytes("b'\0", 3));
  CHECK(spec.keys_only);
  CHECK(spec.family == "f");
  CHECK(spec.prefixes == std::vector<Bytes>{"a"});
}

TEST_CASE("rows without the column pass unless the filter says otherwise") {
  ScanSpec spec;
  REQUIRE(ApplyFilterText("SingleColumnValueFilter('f','x',=,'binary:1')", &spec).ok());
  CHECK(RowPasses(spec.filter, "k", {}));
  REQUIRE(ApplyFilterText("SingleColumnValueFilter('f','x',=,'binary:1',true,true)", &spec).ok());
  CHECK_FALSE(RowPasses(spec.filter, "k", {}));
}

TEST_CASE("a wrong filter is refused with its name or position") {
  const std::pair<const char*, const char*> refused[] = {
      {"", "at byte 0"},
      {"PrefixFilter", "'(' after 'PrefixFilter'"},
      {"PrefixFilter('a'", "',' or ')'"},
      {"PrefixFilter('a", "closing quotation mark"},
      {"PrefixFilter('\\q')", "backslash"},
      {"PrefixFilter(1)", "PrefixFilter('key')"},
      {"PrefixFilter('a') PrefixFilter('b')", "AND, OR or the end"},
      {"PrefixFilter('a') AND", "the name of a filter"},
      {"PageFilter(0)", "number from 1"},
      {"ValueFilter(=,'binary:1')", "'ValueFilter' is not supported"},
      {"SKIP PrefixFilter('a')", "'SKIP' is not supported"},
      {"RowFilter(=,'regexstring:a')", "'regexstring' is not supported"},
      {"RowFilter(<,'substring:a')", "only with = or !="},
      {"SingleColumnValueFilter('f','q',=,'binary:1',true,false)", "newest version"},
      {"KeyOnlyFilter() OR PrefixFilter('a')", "not supported inside OR"},
      {"FamilyFilter(=,'binary:f') AND FamilyFilter(=,'binary:g')", "no cell has family"}};
  for (const auto& [text, word] : refused) {
    CAPTURE(text);
    const std::string why = Failure(text);
    CAPTURE(why);
    CHECK(why.find(word) != std::string::npos);
  }
  CHECK(Failure(std::string(40, '(')).find("32 parentheses") != std::string::npos);
}

}  // namespace
}  // namespace hg::points
