#include "storage/lsm/cell_row.h"

#include <doctest/doctest.h>

#include <random>

namespace hg::lsm {
namespace {

// A random history over few columns and times, so that most changes affect each other.
void Change(std::mt19937_64& random, CellRow* row) {
  const auto family = static_cast<uint8_t>(random() % 2);
  const Bytes qualifier = random() % 2 ? "a" : "b";
  const auto time = static_cast<int64_t>(random() % 6);
  switch (random() % 6) {
    case 0:
      row->DeleteColumn(family, qualifier, time);
      break;
    case 1:
      row->DeleteFamily(family, time);
      break;
    case 2:
      row->Append(family, qualifier, std::to_string(random() % 1000), time, time);
      break;
    default:
      row->Put(family, qualifier, std::to_string(random() % 1000), time);
  }
}

// A row of a table ordered by time, with up to five cells.
CellRow ByTime(std::mt19937_64& random) {
  const std::vector<FamilyDescriptor> families = {{"f"}, {"g"}};
  CellRow row;
  for (uint64_t i = random() % 6; i > 0; --i) {
    CellVersion cell;
    cell.family = static_cast<uint8_t>(random() % 2);
    cell.kind = random() % 3 == 0 ? CellKind::kDeleteColumn : CellKind::kPut;
    cell.qualifier = random() % 2 ? "a" : "b";
    if (cell.kind == CellKind::kPut) cell.value = std::to_string(random() % 1000);
    cell.timestamp_ms = static_cast<int64_t>(random() % 6);
    cell.sequence = i;
    AddVersions(families, {std::move(cell)}, &row.versions);
  }
  return row;
}

TEST_CASE("a history by arrival may be split anywhere: merging the parts gives the same row") {
  constexpr CellOrder kOrder = CellOrder::kByArrival;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    const size_t parts = 1 + seed % 4;
    std::mt19937_64 random(seed);
    std::mt19937_64 again(seed);
    CellRow whole;
    std::vector<CellRow> rows(parts);
    for (size_t part = 0; part < parts; ++part) {
      for (int i = 0; i < 5; ++i) {
        Change(random, &whole);
        Change(again, &rows[part]);
      }
    }
    CellRow left = rows[0];
    for (size_t i = 1; i < parts; ++i) left = MergeRows(kOrder, rows[i], left);
    CellRow right = rows[parts - 1];
    for (size_t i = parts - 1; i-- > 0;) right = MergeRows(kOrder, right, rows[i]);
    CHECK(left == right);
    for (CellRow* row : {&whole, &left}) row->DropTombstones();
    CHECK(left == whole);
  }
}

TEST_CASE("OnlyValueOf returns the value of a row of one put, and of no other row") {
  size_t found = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    CellRow row;
    for (uint64_t i = seed % 4; i > 0; --i) Change(random, &row);
    if (seed % 8 == 0) row = ByTime(random);
    Bytes bytes;
    EncodeCellRow(row, &bytes);
    const bool one_put = row.versions.empty() && row.family_tombstones.empty() &&
                         row.cells.size() == 1 && row.cells[0].has_value &&
                         row.cells[0].tombstone_ms == kNoTombstone && !row.cells[0].operand;
    const auto value = OnlyValueOf(bytes);
    REQUIRE(value.has_value() == one_put);
    if (one_put) CHECK(*value == row.cells[0].value);
    found += one_put ? 1 : 0;
    for (size_t size = 0; size < bytes.size(); ++size)
      CHECK_FALSE(OnlyValueOf(ByteView(bytes).substr(0, size)));
  }
  CHECK(found > 100);
}

TEST_CASE("a row is decoded as it was encoded, and no prefix of it is a row") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    CellRow row;
    for (uint64_t i = seed % 12; i > 0; --i) Change(random, &row);
    if (seed % 2 == 0) row = ByTime(random);
    Bytes bytes;
    EncodeCellRow(row, &bytes);
    CellRow back;
    REQUIRE(DecodeCellRow(bytes, &back));
    CHECK(back == row);
    for (size_t n = 0; n < bytes.size(); ++n) CHECK(!DecodeCellRow(bytes.substr(0, n), &back));
  }
}

}  // namespace
}  // namespace hg::lsm
