#include "storage/points/render.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/storage/points/random_row_parts.h"
#include "tests/support/cpu_time.h"
#include "tests/support/hex.h"

namespace hg::points {
namespace {

RowPart Row(RowForm form, std::vector<std::pair<const char*, const char*>> points) {
  RowPart row;
  row.form = form;
  for (const auto& [qualifier, value] : points) {
    PartPoint point;
    REQUIRE(CanonicalPoint(Hex(qualifier), Hex(value), &point));
    row.points.push_back(point);
  }
  return row;
}

std::string Text(const std::vector<Cell>& cells) {
  std::string text;
  for (const Cell& cell : cells) {
    CHECK(cell.family == "t");
    text += (text.empty() ? "" : " ") + ToHexUpper(cell.qualifier) + "=" + ToHexUpper(cell.value) +
            "@" + std::to_string(cell.timestamp_ms);
  }
  return text;
}

constexpr uint32_t kBase = 1356998400;
constexpr int64_t kOld = kBase + 3601;

TEST_CASE("rows written as points or as single cells are shown as one cell once they are old") {
  RowPart row;
  for (const RowForm form : {RowForm::kAuto, RowForm::kSingle}) {
    row = Row(form, {{"0000", "2A"}, {"0010", "18"}});
    CHECK(Text(Render(row, kBase, {kOld, true})) == "00000010=2A1800@1356998401000");
    const char* apart = "0000=2A@1356998400000 0010=18@1356998401000";
    CHECK(Text(Render(row, kBase, {kOld - 1, true})) == apart);
    CHECK(Text(Render(row, kBase, {kOld, false})) == apart);
  }
  row.form = RowForm::kOne;
  CHECK(Text(Render(row, kBase, {0, false})) == "00000010=2A1800@1356998401000");
}

TEST_CASE(
    "mixed resolutions end in 01, a single point stays alone, and annotations stay separate") {
  RowPart row = Row(RowForm::kAuto, {{"0000", "2A"}, {"F000FA01", "0118"}});
  CHECK(Text(Render(row, kBase, {kOld, true})) == "0000F000FA01=2A011801@1356998401000");
  row = Row(RowForm::kOne, {{"0010", "2A"}});
  row.raw = {{Hex("010000"), "{}", 77, 0, false}};
  CHECK(Text(Render(row, kBase, {kOld, true})) == "0010=2A@1356998401000 010000=7B7D@77");
}

TEST_CASE("equal times and raw cells keep the points separate") {
  RowPart twice = Row(RowForm::kAuto, {{"0000", "2A"}, {"F0000000", "2A"}});
  CHECK(Render(twice, kBase, {kOld, true}).size() == 2);
  for (const char* raw : {"00200030", "050000", "002B", ""}) {
    RowPart row = Row(RowForm::kOne, {{"0000", "2A"}, {"0010", "18"}});
    row.raw = {{Hex(raw), "x", 1, 0, false}};
    CHECK(Render(row, kBase, {kOld, true}).size() == 3);
  }
}

TEST_CASE("cell times show the age of points at one time and next to raw cells") {
  RowPart twice = Row(RowForm::kAuto, {{"0011", "012C"}, {"0010", "05"}});
  CHECK(Text(Render(twice, kBase, {kOld, true})) ==
        "0010=05@1356998401001 0011=012C@1356998401000");
  RowPart beside = Row(RowForm::kAuto, {{"0010", "05"}});
  beside.points[0].sequence = 7;
  beside.raw = {{Hex("00100020"), Hex("010200"), 1700000000000, 6, false}};
  CHECK(Render(beside, kBase, {kOld, true})[0].timestamp_ms ==
        1700000000001);  // the raw cell is older
  beside.raw[0].sequence = 8;
  CHECK(Render(beside, kBase, {kOld, true})[0].timestamp_ms == 1356998401000);  // newer in any case
  beside.raw[0].timestamp_ms = 5;
  CHECK(Render(beside, kBase, {kOld, true})[0].timestamp_ms == 4);
  beside.raw[0].sequence = 7;
  CHECK(Render(beside, kBase, {kOld, true})[0].timestamp_ms == 5);  // the qualifiers decide
}

TEST_CASE("points after a raw cell with the greatest time have that time, too") {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  RowPart row = Row(RowForm::kAuto, {{"0011", "012C"}, {"0010", "05"}, {"0013", "00000005"}});
  for (PartPoint& point : row.points) point.sequence = 7;
  for (const int64_t time : {kMax - 2, kMax - 1, kMax}) {
    row.raw = {{Hex("00500060"), Hex("010200"), time, 6, false}};
    for (const Cell& cell : Render(row, kBase, {kOld, true})) CHECK(cell.timestamp_ms >= time);
  }
}

TEST_CASE("the time to show points does not depend on the other cells of their row") {
  constexpr uint32_t kCount = 40'000;
  for (const bool compacted : {false, true}) {
    CAPTURE(compacted);
    RowPart row;
    for (uint32_t i = 0; i < kCount; ++i) {
      Bytes point, other;
      AppendBig(&point, 0xF0000000 | i << 6, 4);
      if (compacted) {
        other = point + Hex("F0000000");
      } else {
        other = Bytes(1, '\1');  // an annotation
        AppendBig(&other, i, 4);
      }
      row.points.emplace_back();
      REQUIRE(CanonicalPoint(point, "*", &row.points.back()));
      row.raw.push_back({other, "{}", 77, i, false});
    }
    // The row is young, so its points are shown as single cells.
    const double took = CpuSecondsOf([&] {
      CHECK(Render(row, kBase, {kOld - 1, true}).size() == size_t{2} * kCount);
    });
    CHECK(took < 1);
  }
}

TEST_CASE("single cells put in one record have the same age, and others do not") {
  RowPart row = Row(RowForm::kSingle, {{"0011", "0008"}, {"0010", "07"}});
  const char* together = "0010=07@1356998401000 0011=0008@1356998401000";
  CHECK(Text(Render(row, kBase, {kOld, true})) == together);
  row.form = RowForm::kAuto;  // points that were written one after the other
  CHECK(Text(Render(row, kBase, {kOld, true})) == "0010=07@1356998401001 0011=0008@1356998401000");
  row = Row(RowForm::kSingle, {{"0010", "07"}, {"0011", "0008"}});
  CHECK(Text(Render(row, kBase, {kOld, true})) == "0010=07@1356998401000 0011=0008@1356998401001");
}

TEST_CASE(
    "deleting a shown cell deletes its points, and deleting the qualifier of one point "
    "deletes this point") {
  const RenderOptions old{kOld, true};
  RowPart row = Row(RowForm::kAuto, {{"0000", "2A"}, {"0010", "18"}});
  CHECK(DeleteRendered(row, kBase, Hex("00000010"), old).gone ==
        std::vector{Hex("0000"), Hex("0010")});
  CHECK(DeleteRendered(row, kBase, Hex("00000010"), {kOld, false}).empty());
  CHECK(DeleteRendered(row, kBase, Hex("00000020"), old).empty());
  CHECK(DeleteRendered(row, kBase, Hex("0010"), old).gone == std::vector{Hex("0010")});
  row.raw = {{Hex("00000010"), Hex("2A1800"), 1, 0, false}};
  CHECK(DeleteRendered(row, kBase, Hex("00000010"), old).gone == std::vector{Hex("00000010")});
}

}  // namespace
}  // namespace hg::points
