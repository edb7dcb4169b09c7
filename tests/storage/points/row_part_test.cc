#include "storage/points/row_part.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "storage/points/render.h"
#include "tests/storage/points/random_row_parts.h"
#include "tests/support/hex.h"

namespace hg::points {
namespace {

PartPoint Point(ByteView qualifier, ByteView value, uint32_t sequence = 0) {
  PartPoint point;
  REQUIRE(CanonicalPoint(Hex(qualifier), Hex(value), &point));
  point.sequence = sequence;
  return point;
}

std::map<Bytes, Bytes> CellsOf(const RowPart& row) {
  std::map<Bytes, Bytes> cells;
  for (const Cell& cell : Render(row, 0, {0, false})) {
    CHECK(cells.emplace(cell.qualifier, cell.value).second);
  }
  return cells;
}

void CheckInvariants(const RowPart& part) {
  std::set<Bytes> names;
  for (const auto& point : part.points) CHECK(names.insert(point.qualifier.Encode()).second);
  for (const auto& cell : part.raw) CHECK(names.insert(cell.qualifier).second);
  for (const auto& qualifier : part.gone) CHECK(names.insert(qualifier).second);
  CHECK(std::is_sorted(part.points.begin(), part.points.end(),
                       [](const auto& a, const auto& b) { return a.offset_ms() < b.offset_ms(); }));
  CHECK(std::is_sorted(part.raw.begin(), part.raw.end(),
                       [](const auto& a, const auto& b) { return a.qualifier < b.qualifier; }));
  CHECK(std::is_sorted(part.gone.begin(), part.gone.end()));
  CHECK((!part.cleared || part.gone.empty()));
}

RowPart MergeInOrder(const std::vector<RowPart>& oldest_first) {
  RowPart row;
  for (const RowPart& part : oldest_first) row = Merge(part, row);
  return row;
}

// Merges neighbouring parts in any order until one is left.
RowPart MergeAnyhow(std::vector<RowPart> oldest_first, RandomHistory* random) {
  while (oldest_first.size() > 1) {
    size_t i = random->Below(oldest_first.size() - 1);
    oldest_first[i] = Merge(oldest_first[i + 1], oldest_first[i]);
    oldest_first.erase(oldest_first.begin() + static_cast<ptrdiff_t>(i) + 1);
  }
  return oldest_first.front();
}

TEST_CASE(
    "the records of a row merge to the same row in any grouping, and the row has the "
    "expected cells") {
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    RandomHistory history(seed);
    CellMap cells;
    std::vector<RowPart> parts;
    const size_t length = 1 + history.Below(14);
    for (size_t i = 0; i < length; ++i) {
      Record record = history.Next();
      cells.Apply(record);
      parts.push_back(record.part);
    }
    RowPart row = MergeInOrder(parts);
    CheckInvariants(row);
    REQUIRE(MergeAnyhow(parts, &history) == row);

    RowPart settled = row;
    Settle(&settled);
    CheckInvariants(settled);
    REQUIRE(CellsOf(settled) == cells.cells());
    RowPart again = settled;
    Settle(&again);
    REQUIRE(again == settled);
  }
}

TEST_CASE("Normalize sorts points that were added in order of arrival") {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    RandomHistory history(seed);
    RowPart filled;
    std::vector<RowPart> parts;
    for (size_t i = 0; i < 12; ++i) {
      Record record = history.Next();
      if (record.kind != Record::Kind::kPut || record.part.points.empty()) continue;
      parts.push_back(record.part);
      filled.points.push_back(record.part.points.front());
      filled.form = RowForm::kAuto;
    }
    Normalize(&filled);
    CHECK(filled.points == MergeInOrder(parts).points);
  }
}

TEST_CASE(
    "points of one time with different qualifiers are kept next to each other, the older "
    "one first") {
  RowPart row;
  row.points = {Point("0000", "2A", 1)};
  RowPart wider;
  wider.points = {Point("0001", "002B", 2)};
  RowPart millis;
  millis.points = {Point("F0000000", "07", 3)};
  RowPart merged = Merge(millis, Merge(wider, row));
  CHECK(merged.points ==
        std::vector{Point("0000", "2A", 1), Point("0001", "002B", 2), Point("F0000000", "07", 3)});

  RowPart again;
  again.points = {Point("0000", "63", 4)};
  CHECK(Merge(again, merged).points ==
        std::vector{Point("0001", "002B", 2), Point("F0000000", "07", 3), Point("0000", "63", 4)});
}

TEST_CASE("only cells with valid flags and the exact length are points") {
  PartPoint point;
  CHECK(CanonicalPoint(Hex("E0F0"), Hex("FF"), &point));
  CHECK(static_cast<int64_t>(point.bits) == -1);
  CHECK(CanonicalPoint(Hex("000B"), Hex("80000000"), &point));
  CHECK(point.bits == 0x80000000);
  CHECK(CanonicalPoint(Hex("0007"), Hex("0000000000000005"), &point));
  CHECK(CanonicalPoint(Hex("FDBB9FCF"), Hex("7FF8000000000001"), &point));
  CHECK_FALSE(CanonicalPoint(Hex("E100"), Hex("00"), &point));      // 3600 s
  CHECK_FALSE(CanonicalPoint(Hex("FDBBA000"), Hex("00"), &point));  // 3,600,000 ms
  CHECK_FALSE(CanonicalPoint(Hex("F0000010"), Hex("00"), &point));  // reserved bit
  CHECK_FALSE(CanonicalPoint(Hex("000B"), Hex("0000000040866666"), &point));
  CHECK_FALSE(CanonicalPoint(Hex("0002"), Hex("000000"), &point));
  CHECK_FALSE(CanonicalPoint(Hex("F000"), Hex("00"), &point));
  CHECK_FALSE(CanonicalPoint(Hex("00000010"), Hex("2A1800"), &point));
  CHECK_FALSE(CanonicalPoint(Hex("050000"), Hex("00002A"), &point));
  CHECK_FALSE(CanonicalPoint("", "", &point));
}

TEST_CASE("settling converts a single valid compacted cell to points, and leaves all others") {
  struct Case {
    const char* qualifier;
    const char* value;
    bool points;
  };
  for (const Case& c :
       {Case{"00000010", "2A1800", true}, Case{"0000F0001F4F", "2A3FB999999999999A01", true},
        Case{"00000010", "2A18", false},      // batch writer: no trailing byte
        Case{"00000010", "2A1801", false},    // wrong trailing byte
        Case{"00000010", "2A180000", false},  // too long
        Case{"00100000", "2A1800", false},    // not ascending
        Case{"00000000", "2A1800", false},    // equal times
        Case{"0000E100", "2A1800", false},    // past the hour
        Case{"0000F0001F7F", "2A3FB999999999999A01", false}}) {
    CAPTURE(c.qualifier);
    CAPTURE(c.value);
    RowPart row;
    row.raw = {{Hex(c.qualifier), Hex(c.value), 5, 1, false}, {Hex("010000"), "{}", 6, 1, false}};
    const auto before = CellsOf(row);
    Settle(&row);
    CHECK(row.points.size() == (c.points ? 2 : 0));
    CHECK(row.raw.size() == (c.points ? 1 : 2));
    CHECK(row.form == (c.points ? RowForm::kOne : RowForm::kNone));
    CHECK(CellsOf(row) == before);
  }
  for (const char* beside : {"0020", "050000", "00200030"}) {
    RowPart row;
    row.raw = {{Hex("00000010"), Hex("2A1800"), 5, 1, false},
               {Hex(beside), Hex("2A0000"), 5, 1, false}};
    RowPart before = row;
    Settle(&row);
    CHECK(row == before);
  }
}

}  // namespace
}  // namespace hg::points
