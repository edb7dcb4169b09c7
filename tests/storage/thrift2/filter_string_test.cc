// Texts of HBase's filter language.

#include "storage/thrift2/filter_string.h"

#include <doctest/doctest.h>

#include <array>
#include <random>

#include "storage/points/filter_grammar.h"
#include "storage/thrift2/cell_filter.h"

namespace hg::thrift2 {
namespace {

StatusCode CodeOf(std::string_view text) {
  const auto bytes = FilterBytesOf(text);
  if (!bytes.ok()) return bytes.status().code();
  return ReadCellFilter(*bytes).status().code();
}

Bytes MessageOf(std::string_view text) {
  const auto bytes = FilterBytesOf(text);
  REQUIRE_FALSE(bytes.ok());
  return Bytes(bytes.status().message());
}

bool TextPasses(std::string_view text, ByteView key, Cell* cell) {
  CAPTURE(text);
  const auto bytes = FilterBytesOf(text);
  REQUIRE(bytes.ok());
  auto filter = ReadCellFilter(*bytes);
  REQUIRE(filter.ok());
  (*filter)->StartRow();
  return *(*filter)->Passes(key, cell, &RequestContext::Unlimited());
}

bool TextPasses(std::string_view text, ByteView key, Cell cell = {"f", "q", "v", 1}) {
  return TextPasses(text, key, &cell);
}

TEST_CASE("each filter and comparator of a text has its meaning") {
  CHECK(TextPasses("PrefixFilter('ro')", "row"));
  CHECK_FALSE(TextPasses("PrefixFilter('rx')", "row"));
  CHECK(TextPasses("ColumnPrefixFilter('q')", "row"));
  CHECK_FALSE(TextPasses("ColumnPrefixFilter('p')", "row"));
  CHECK(TextPasses("MultipleColumnPrefixFilter('x', 'q')", "row"));
  CHECK_FALSE(TextPasses("MultipleColumnPrefixFilter('x', 'y')", "row"));
  CHECK(TextPasses("RowFilter(=, 'binary:row')", "row"));
  CHECK(TextPasses("RowFilter(!=, 'binary:ro')", "row"));
  CHECK(TextPasses("RowFilter(<, 'binary:rp')", "row"));
  CHECK(TextPasses("RowFilter(<=, 'binary:row')", "row"));
  CHECK(TextPasses("RowFilter(>, 'binary:ro')", "row"));
  CHECK(TextPasses("RowFilter(>=, 'binary:row')", "row"));
  CHECK_FALSE(TextPasses("RowFilter(>, 'binary:row')", "row"));
  CHECK(TextPasses("FamilyFilter(=, 'binary:f')", "row"));
  CHECK(TextPasses("QualifierFilter(=, 'binaryprefix:q')", "row", {"f", "qr", "v", 1}));
  CHECK(TextPasses("ValueFilter(=, 'substring:ALU')", "row", {"f", "q", "value", 1}));
  CHECK(TextPasses("ValueFilter(=, 'regexstring:^v.l')", "row", {"f", "q", "v\nlue", 1}));
  CHECK(TextPasses("ValueFilter(!=, 'regexstring:^a')", "row", {"f", "q", "value", 1}));
  CHECK(TextPasses("ValueFilter(=, 'binary:a:b')", "row", {"f", "q", "a:b", 1}));
}

TEST_CASE(
    "the ends of a range of columns are inclusive as the text says, and an empty end is no bound") {
  const auto passes = [](std::string_view text, const char* qualifier) {
    return TextPasses(text, "row", {"f", qualifier, "v", 1});
  };
  CHECK(passes("ColumnRangeFilter('b', true, 'd', false)", "b"));
  CHECK_FALSE(passes("ColumnRangeFilter('b', true, 'd', false)", "d"));
  CHECK_FALSE(passes("ColumnRangeFilter('b', FALSE, 'd', True)", "b"));
  CHECK(passes("ColumnRangeFilter('b', FALSE, 'd', True)", "d"));
  CHECK(passes("ColumnRangeFilter('', false, '', false)", ""));
  CHECK(passes("ColumnRangeFilter('', false, '', false)", "z"));
}

TEST_CASE("KeyOnlyFilter of a text removes values, or replaces them by their lengths") {
  Cell cell{"f", "q", "value", 1};
  CHECK(TextPasses("KeyOnlyFilter()", "row", &cell));
  CHECK(cell.value.empty());
  cell.value = "value";
  CHECK(TextPasses("KeyOnlyFilter(true)", "row", &cell));
  CHECK(cell.value == Bytes("\0\0\0\5", 4));
}

TEST_CASE("AND binds more tightly than OR in a text, and parentheses more than both") {
  const Bytes a = "PrefixFilter('a')", b = "PrefixFilter('b')", none = "PrefixFilter('x')";
  CHECK(TextPasses(a + " OR " + b + " AND " + none, "a"));
  CHECK_FALSE(TextPasses("(" + a + " OR " + b + ") AND " + none, "a"));
  CHECK(TextPasses(" (" + a + "AND  FirstKeyOnlyFilter ( ) ) OR\t" + none, "a"));
  CHECK(TextPasses(none + " OR " + none + " OR (" + a + ")", "a"));
}

TEST_CASE("a doubled quotation mark is one, and a backslash and other bytes are themselves") {
  CHECK(TextPasses("PrefixFilter('a''b')", "a'bc"));
  CHECK(TextPasses("PrefixFilter('''')", "'"));
  CHECK(TextPasses("PrefixFilter('')", "row"));
  CHECK(TextPasses("PrefixFilter('a) AND (')", "a) AND (b"));
  CHECK(TextPasses("PrefixFilter('\\x41')", "\\x41"));
  CHECK(TextPasses(Bytes("PrefixFilter('\0\xFF')", 18), Bytes("\0\xFFz", 3)));
}

TEST_CASE("texts that HBase refuses are invalid") {
  for (const char* text : {"",
                           " ",
                           "()",
                           "PrefixFilter",
                           "PrefixFilter(",
                           "PrefixFilter(a)",
                           "PrefixFilter('a'",
                           "PrefixFilter('a)",
                           "PrefixFilter('a', 'b')",
                           "PrefixFilter()",
                           "PrefixFilter('a') AND",
                           "AND PrefixFilter('a')",
                           "PrefixFilter('a') PrefixFilter('b')",
                           "PrefixFilter('a'))",
                           "(PrefixFilter('a')",
                           "KeyOnlyFilter('')",
                           "FirstKeyOnlyFilter('')",
                           "NoSuchFilter()",
                           "FuzzyRowFilter('a', 'b')",
                           "TimeStampsFilter(1)",
                           "RowFilter('=', 'binary:a')",
                           "RowFilter(>>, 'binary:a')",
                           "RowFilter(=, 'a')",
                           "RowFilter(=, 'other:a')",
                           "RowFilter(<, 'regexstring:a')",
                           "RowFilter(>, 'substring:a')",
                           "RowFilter(=, 'regexstring:(')",
                           "ColumnRangeFilter('a', 'true', 'b', true)",
                           "ColumnRangeFilter('a', true)"}) {
    CAPTURE(text);
    CHECK(CodeOf(text) == StatusCode::kInvalidArgument);
  }
}

TEST_CASE("a filter of HBase that Hourglass lacks is refused, and the error names it") {
  for (const char* name :
       {"ColumnCountGetFilter(1)", "PageFilter(1)", "ColumnPaginationFilter(1, 2)",
        "InclusiveStopFilter('a')", "TimestampsFilter(1, 2)",
        "SingleColumnValueFilter('f', 'q', =, 'binary:a', true, false)",
        "SingleColumnValueExcludeFilter('f', 'q', =, 'binary:a')",
        "DependentColumnFilter('f', 'q')", "ColumnValueFilter('f', 'q', =, 'binary:a')",
        "SKIP PrefixFilter('a')", "WHILE PrefixFilter('a')"}) {
    CAPTURE(name);
    const Bytes first(name, std::string_view(name).find_first_of(" ("));
    for (const Bytes& text : {Bytes(name), "KeyOnlyFilter() AND (" + Bytes(name) + ")"}) {
      CHECK(CodeOf(text) == StatusCode::kUnsupported);
      CHECK(MessageOf(text).find(first) != Bytes::npos);
    }
  }
}

TEST_CASE("the length and the depth of a text are limited") {
  using points::kFilterParenthesesMax;
  const auto in_parentheses = [](int depth) {
    const auto count = static_cast<size_t>(depth);
    return Bytes(count, '(') + "KeyOnlyFilter()" + Bytes(count, ')');
  };
  CHECK(CodeOf(in_parentheses(kFilterParenthesesMax)) == StatusCode::kOk);
  CHECK(CodeOf(in_parentheses(kFilterParenthesesMax + 1)) == StatusCode::kLimitExceeded);
  CHECK(CodeOf(Bytes(points::kFilterTextBytesMax, '(')) == StatusCode::kLimitExceeded);
  Bytes lists = "KeyOnlyFilter()";
  for (int depth = 0; depth < kFilterParenthesesMax; ++depth) {
    lists = "KeyOnlyFilter() OR KeyOnlyFilter() AND (" + lists + ")";
  }
  CHECK(CodeOf(lists) == StatusCode::kLimitExceeded);
  CHECK(CodeOf(Bytes(points::kFilterTextBytesMax + 1, ' ')) == StatusCode::kLimitExceeded);
}

TEST_CASE("the bytes of the longest text are within the limit of filterBytes") {
  const Bytes shortest = "FirstKeyOnlyFilter()OR ", longest = "ValueFilter(=,'substring:')OR ";
  for (const Bytes& filter : {shortest, longest}) {
    Bytes text;
    while (text.size() + 2 * filter.size() < points::kFilterTextBytesMax) text += filter;
    text += "KeyOnlyFilter()";
    CHECK(CodeOf(text) == StatusCode::kOk);
  }
}

TEST_CASE("random pieces of the language are refused or read, and nothing else happens") {
  constexpr std::array<std::string_view, 24> kPieces = {"(",
                                                        ")",
                                                        "'",
                                                        "''",
                                                        ",",
                                                        " ",
                                                        "AND ",
                                                        " OR ",
                                                        "SKIP ",
                                                        "WHILE",
                                                        "RowFilter",
                                                        "KeyOnlyFilter()",
                                                        "true",
                                                        "FALSE",
                                                        "=",
                                                        "<=",
                                                        "!=",
                                                        "-1",
                                                        "'binary:a'",
                                                        "'regexstring:a*'",
                                                        "PrefixFilter('a')",
                                                        "ColumnRangeFilter(",
                                                        "\\x",
                                                        "\xFF"};
  std::mt19937_64 random(7);
  size_t read = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes text;
    for (size_t pieces = random() % 12; pieces > 0; --pieces) {
      text += kPieces[random() % kPieces.size()];
    }
    const StatusCode code = CodeOf(text);
    read += code == StatusCode::kOk ? 1 : 0;
    CHECK((code == StatusCode::kOk || code == StatusCode::kInvalidArgument ||
           code == StatusCode::kUnsupported));
  }
  CHECK(read > 100);
}

TEST_CASE("a text that is cut at any byte is refused or read, and nothing else happens") {
  const Bytes whole =
      "(PrefixFilter('a''b') AND RowFilter(>=, 'regexstring:x')) OR KeyOnlyFilter(true)";
  for (size_t size = 0; size < whole.size(); ++size) (void)CodeOf(whole.substr(0, size));
}

}  // namespace
}  // namespace hg::thrift2
