#include "tsd/ingest/line_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hg::tsd {
namespace {

constexpr size_t kRoomy = 1 << 20;

/// Returns the series of the fields of one line; empty if not all are known.
std::vector<SeriesNumber> FindLine(const LineTable& table, std::string_view series,
                                   const std::vector<std::string>& names) {
  std::vector<KeyedField> fields;
  for (const std::string& name : names) fields.push_back({name, PointValue::Int(1)});
  const KeyedLine line{series, Timestamp{1}, static_cast<uint32_t>(names.size())};
  std::vector<SeriesNumber> numbers(names.size());
  if (!table.TryFindAll({&line, 1}, fields, numbers.data())) return {};
  return numbers;
}

void Remember(LineTable* table, std::string_view series, std::string_view field,
              SeriesNumber number) {
  table->Remember(series, field, "pairs", number, table->generation());
}

using Numbers = std::vector<SeriesNumber>;

}  // namespace

TEST_CASE("fields of a line are found in any order, and only together with their line") {
  LineTable table(7, kRoomy);
  CHECK(FindLine(table, "cpu,h=a", {"x"}).empty());
  Remember(&table, "cpu,h=a", "x", 1);
  Remember(&table, "cpu,h=a", "y", 2);
  Remember(&table, "cpu,h=a", "z", 3);
  Remember(&table, "cpu,h=b", "x", 4);
  CHECK(FindLine(table, "cpu,h=a", {"x", "y", "z"}) == Numbers{1, 2, 3});
  CHECK(FindLine(table, "cpu,h=a", {"z", "y", "x"}) == Numbers{3, 2, 1});
  CHECK(FindLine(table, "cpu,h=a", {"y"}) == Numbers{2});
  CHECK(FindLine(table, "cpu,h=b", {"x"}) == Numbers{4});
  CHECK(FindLine(table, "cpu,h=b", {"y"}).empty());
  CHECK(FindLine(table, "cpu,h=", {"x"}).empty());
  CHECK(table.Find("cpu,h=a", "y") == 2);
  CHECK_FALSE(table.Find("cpu,h=a", "w"));
  CHECK(table.FindPairs("cpu,h=a") == "pairs");
  CHECK(table.FindPairs("cpu,h=c").empty());
}

TEST_CASE("a field that occurs twice in its line is not found") {
  LineTable table(7, kRoomy);
  for (const char* name : {"x", "y", "z"}) Remember(&table, "m", name, 1);
  CHECK(FindLine(table, "m", {"x", "x"}).empty());
  CHECK(FindLine(table, "m", {"z", "y", "z"}).empty());
  CHECK(FindLine(table, "m", {"x", "y", "z", "x"}).empty());
  CHECK(FindLine(table, "m", {"z", "x", "y"}).size() == 3);
}

// With so many fields, comparing all pairs would take minutes.
TEST_CASE("fields of a long line are learned and found in any order, with one lookup each") {
  constexpr size_t kFields = 300'000;
  LineTable table(7, size_t{1} << 30);
  std::vector<std::string> names;
  Numbers numbers;
  for (size_t i = 0; i < kFields; ++i) {
    names.push_back("f" + std::to_string(i));
    numbers.push_back(static_cast<SeriesNumber>(i));
    Remember(&table, "m", names.back(), numbers.back());
  }
  CHECK(FindLine(table, "m", names) == numbers);
  std::reverse(names.begin(), names.end());
  std::reverse(numbers.begin(), numbers.end());
  CHECK(FindLine(table, "m", names) == numbers);
  Remember(&table, "m", "f5", 77);
  CHECK(table.Find("m", "f5") == 77);
  CHECK(table.stats().raw_keys == kFields);
  CHECK(FindLine(table, "m", {"f9", "f299999", "f8"}) == Numbers{9, 299'999, 8});
  CHECK(FindLine(table, "m", {"f9", "f299999", "f9"}).empty());
  CHECK(FindLine(table, "m", {"f299999", "f9", "f299999"}).empty());
  CHECK(FindLine(table, "m", {"f299999", "g"}).empty());
}

TEST_CASE("each line of a batch has the next fields of the batch's list") {
  LineTable table(7, kRoomy);
  Remember(&table, "a", "x", 1);
  Remember(&table, "a", "y", 2);
  Remember(&table, "b", "x", 3);
  const KeyedLine lines[] = {{"a", {1}, 2}, {"b", {1}, 1}, {"a", {1}, 1}};
  const KeyedField fields[] = {{"x", {}}, {"y", {}}, {"x", {}}, {"y", {}}};
  Numbers numbers(4);
  REQUIRE(table.TryFindAll(lines, fields, numbers.data()));
  CHECK(numbers == Numbers{1, 2, 3, 2});
}

TEST_CASE("names that were resolved before a change are not remembered") {
  LineTable table(7, kRoomy);
  const uint32_t before = table.generation();
  table.Forget();
  table.Remember("a", "x", "pairs", 1, before);
  CHECK(FindLine(table, "a", {"x"}).empty());
  Remember(&table, "a", "x", 2);
  CHECK(FindLine(table, "a", {"x"}) == Numbers{2});
  Remember(&table, "a", "x", 3);
  CHECK(FindLine(table, "a", {"x"}) == Numbers{3});
  CHECK(table.stats().raw_keys == 1);
  table.Forget();
  CHECK(table.stats().raw_keys == 0);
}

TEST_CASE("a full table is cleared and learns again") {
  LineTable table(7, 4096);
  for (int i = 0; i < 1000; ++i) Remember(&table, "m,h=" + std::to_string(i), "x", 5);
  CHECK(FindLine(table, "m,h=999", {"x"}) == Numbers{5});
  CHECK(FindLine(table, "m,h=0", {"x"}).empty());
  CHECK(table.stats().bytes < 8192);
}

}  // namespace hg::tsd
