#include "tsd/tools/migrate_row.h"

#include <doctest/doctest.h>

#include "storage/codec/append_cell.h"
#include "storage/codec/compacted.h"

namespace hg::tsd {
namespace {

const RowRules kPoints{.points = true};

codec::StoredPoint PointAt(uint32_t second, int64_t value) {
  return {codec::Qualifier::Seconds(second, 0), static_cast<uint64_t>(value)};
}

Cell CellOf(std::initializer_list<codec::StoredPoint> points) {
  Cell cell{"t", {}, {}, 1000};
  codec::EncodePointCell({points.begin(), points.size()}, &cell.qualifier, &cell.value);
  return cell;
}

/// Returns the content of a store after the changes.
Row After(Row row, const std::vector<CellChange>& changes) {
  for (const CellChange& change : changes) {
    std::erase_if(row.cells, [&](const Cell& cell) {
      return cell.family == change.family && cell.qualifier == change.qualifier;
    });
    if (change.kind == CellChange::Kind::kPut) {
      row.cells.push_back({change.family, change.qualifier, change.value, 2000});
    }
  }
  return row;
}

const Cell kOne = CellOf({PointAt(0, 1)});
const Cell kTwo = CellOf({PointAt(10, 2)});
const Cell kBoth = CellOf({PointAt(0, 1), PointAt(10, 2)});

TEST_CASE("two rows with the same points are equal if only one of them is compacted") {
  const Row source{"key", {kBoth}};
  const Row there{"key", {kOne, kTwo}};
  CHECK(CompareRows(source, there, kPoints).changes.empty());
  CHECK(CompareRows(there, source, kPoints).changes.empty());
  CHECK(SumOfRow(source, kPoints) == SumOfRow(there, kPoints));
  // In other tables, cells with different columns differ.
  CHECK_FALSE(CompareRows(source, there, {}).changes.empty());
  CHECK_FALSE(SumOfRow(source, {}) == SumOfRow(there, {}));
}

TEST_CASE("the sum of a row depends on its key, values and kinds of points") {
  const RowSum sum = SumOfRow({"key", {kOne}}, kPoints);
  CHECK(sum.rows == 1);
  CHECK(sum.items == 1);
  CHECK_FALSE(sum == SumOfRow({"kez", {kOne}}, kPoints));
  CHECK_FALSE(sum == SumOfRow({"key", {CellOf({PointAt(0, 3)})}}, kPoints));
  CHECK_FALSE(sum == SumOfRow({"key", {CellOf({{codec::Qualifier::Millis(0, 0), 1}})}}, kPoints));
}

TEST_CASE("a missing row is written unchanged, with its times") {
  const auto changes = CompareRows({"key", {kBoth, kOne}}, {"key", {}}, kPoints).changes;
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].qualifier == kBoth.qualifier);
  CHECK(changes[0].value == kBoth.value);
  CHECK(changes[0].timestamp_ms == 1000);
}

TEST_CASE("a cell of the target that only repeats written points is removed") {
  const Row source{"key", {CellOf({PointAt(0, 1), PointAt(10, 2), PointAt(20, 3)})}};
  const Row there{"key", {kBoth}};
  const Row after = After(there, CompareRows(source, there, kPoints).changes);
  REQUIRE(after.cells.size() == 1);
  CHECK(after.cells[0].value == source.cells[0].value);
}

TEST_CASE(
    "the value of the source replaces the target's value of the same time, and other values stay") {
  const Row source{"key", {CellOf({PointAt(0, 7)})}};
  for (const bool native : {false, true}) {
    RowRules rules = kPoints;
    rules.native = native;
    const Row there{"key", {kBoth}};
    const RowDifference difference = CompareRows(source, there, rules);
    CHECK(difference.extra_items == 2);
    const Row after = After(there, difference.changes);
    CHECK(SumOfRow(after, rules) == SumOfRow({"key", {source.cells[0], kTwo}}, rules));
    CHECK(CompareRows(source, after, rules).changes.empty());
  }
}

TEST_CASE("a put into an existing column gets the time of the write, not that of the source") {
  const Row source{"key", {CellOf({PointAt(0, 7)})}};
  const auto changes = CompareRows(source, {"key", {kOne}}, kPoints).changes;
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].kind == CellChange::Kind::kPut);
  CHECK_FALSE(changes[0].timestamp_ms.has_value());
}

TEST_CASE("extra items of the target stay, unless they are to be removed") {
  const Cell note{"t", Bytes("\1\0\0", 3), "{}", 1000};
  const Row source{"key", {kOne}};
  const Row there{"key", {kOne, kTwo, note}};
  const RowDifference kept = CompareRows(source, there, kPoints);
  CHECK(kept.changes.empty());
  CHECK(kept.extra_items == 2);
  RowRules rules = kPoints;
  rules.remove_extra = true;
  const Row after = After(there, CompareRows(source, there, rules).changes);
  REQUIRE(after.cells.size() == 1);
  CHECK(after.cells[0].qualifier == kOne.qualifier);
}

TEST_CASE(
    "in a target with native points only the missing points of a compacted cell are written") {
  RowRules rules = kPoints;
  rules.native = true;
  const auto changes = CompareRows({"key", {kBoth}}, {"key", {kOne}}, rules).changes;
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].qualifier == kTwo.qualifier);
}

TEST_CASE("with only_missing, only missing items are written, and existing ones stay") {
  RowRules rules = kPoints;
  rules.native = rules.only_missing = true;
  // The target has another value at one time, and another annotation.
  const Cell other = CellOf({PointAt(0, 7)});
  const Cell note{"t", Bytes("\1\0\0", 3), "here", 1000};
  const Cell changed{"t", note.qualifier, "there", 1000};
  const auto changes =
      CompareRows({"key", {kBoth, note}}, {"key", {other, changed}}, rules).changes;
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].kind == CellChange::Kind::kPut);
  CHECK(changes[0].qualifier == kTwo.qualifier);
  CHECK(changes[0].value == kTwo.value);
  CHECK(
      CompareRows({"key", {kBoth, note}}, {"key", {other, kTwo, changed}}, rules).changes.empty());
  CHECK(CompareRows({"key", {kBoth, note}}, {"key", {}}, rules).changes.size() == 2);
}

TEST_CASE("the points of append cells are compared one by one") {
  RowRules rules = kPoints;
  rules.native = rules.only_missing = true;
  Cell source{"t", Bytes(codec::kAppendQualifier), {}, 1000};
  Cell there = source;
  codec::AppendPair(&source.value, PointAt(0, 1));
  codec::AppendPair(&source.value, PointAt(10, 2));
  codec::AppendPair(&there.value, PointAt(0, 7));
  const auto changes = CompareRows({"key", {source}}, {"key", {there}}, rules).changes;
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].qualifier == kTwo.qualifier);
  CHECK(changes[0].value == kTwo.value);
  CHECK(CompareRows({"key", {source}}, {"key", {there, kTwo}}, rules).changes.empty());
  const auto whole = CompareRows({"key", {source}}, {"key", {}}, rules).changes;
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].value == source.value);
}

TEST_CASE("cells that cannot be read as points are compared as bytes") {
  const Cell cut{"t", kBoth.qualifier, kBoth.value.substr(1), 1000};
  CHECK_FALSE(CompareRows({"key", {cut}}, {"key", {kOne, kTwo}}, kPoints).changes.empty());
  CHECK(CompareRows({"key", {cut}}, {"key", {cut}}, kPoints).changes.empty());
}

}  // namespace
}  // namespace hg::tsd
