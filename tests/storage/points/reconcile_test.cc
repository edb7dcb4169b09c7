#include "storage/points/reconcile.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "storage/codec/compacted.h"
#include "storage/points/render.h"
#include "tests/support/cpu_time.h"
#include "tests/support/hex.h"

namespace hg::points {
namespace {

void SortCells(std::vector<Cell>* cells) {
  std::sort(cells->begin(), cells->end(),
            [](const Cell& a, const Cell& b) { return a.qualifier < b.qualifier; });
}

std::string Show(ByteView qualifier, ByteView value) {
  return ToHexUpper(qualifier) + "=" + ToHexUpper(value);
}

// Returns the points as the text of the one cell that they form.
std::string ShowPoints(const std::vector<codec::StoredPoint>& points) {
  if (points.empty()) return "";
  Bytes qualifier;
  Bytes value;
  codec::EncodePointCell(points, &qualifier, &value);
  return Show(qualifier, value);
}

struct Vector {
  std::string name;
  ReconcileOptions options;
  std::vector<Cell> cells;
  std::string result;
  std::string put;
  std::set<std::string> deletes;
};

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '|');) {
    field.erase(0, field.find_first_not_of(' '));
    field.erase(field.find_last_not_of(' ') + 1);
    fields.push_back(field);
  }
  return fields;
}

Vector ParseVector(const std::string& line) {
  auto fields = Split(line);
  REQUIRE_MESSAGE(fields.size() == 6, line);
  Vector v;
  v.name = fields[0];
  v.options.fix_duplicates = fields[1].find("fix_duplicates") != std::string::npos;
  v.options.use_otsdb_timestamp = fields[1].find("use_otsdb_timestamp") != std::string::npos;
  v.options.use_max_value = fields[1].find("min_value") == std::string::npos;
  std::istringstream cells(fields[2]);
  for (std::string text; cells >> text;) {
    const size_t equals = text.find('=');
    const size_t at = std::min(text.find('@'), text.size());
    Cell cell{"t", Hex(text.substr(0, equals)), Hex(text.substr(equals + 1, at - equals - 1)), 0};
    if (at < text.size()) cell.timestamp_ms = std::stoll(text.substr(at + 1));
    v.cells.push_back(cell);
  }
  SortCells(&v.cells);
  v.result = fields[3];
  v.put = fields[4];
  std::istringstream deletes(fields[5]);
  for (std::string text; deletes >> text;) v.deletes.insert(text);
  return v;
}

std::vector<Vector> ReadVectors() {
  std::ifstream in(HG_SOURCE_DIR "/tests/storage/points/row_merge.txt");
  std::vector<Vector> vectors;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') vectors.push_back(ParseVector(line));
  }
  REQUIRE(vectors.size() == 31);
  return vectors;
}

TEST_CASE("rows are read and rewritten like the schema's vectors") {
  for (const Vector& v : ReadVectors()) {
    CAPTURE(v.name);
    auto row = Reconcile(v.cells, v.options);
    CHECK((row.ok() ? ShowPoints(row->points) : "error") == v.result);
    auto changes = PlanRowCompaction(v.cells, v.options);
    REQUIRE(changes.ok() == row.ok());
    if (!row.ok() || v.put == "*") continue;
    CHECK(row->as_stored == changes->empty());
    std::string put = "-";
    std::set<std::string> deletes;
    for (const CellChange& change : *changes) {
      CHECK(change.family == "t");
      if (change.kind == CellChange::Kind::kDeleteColumn) {
        deletes.insert(ToHexUpper(change.qualifier));
        continue;
      }
      CHECK_MESSAGE(deletes.empty(), "the put comes first");
      put = Show(change.qualifier, change.value);
      if (change.timestamp_ms) put += "@" + std::to_string(*change.timestamp_ms);
    }
    CHECK(put == v.put);
    CHECK((deletes.empty() ? std::set<std::string>{"-"} : deletes) == v.deletes);
  }
}

// Returns the cells of a row as a RowPart. Cell times become sequence numbers.
RowPart PartOf(const std::vector<Cell>& cells) {
  std::set<int64_t> times;
  for (const Cell& cell : cells) times.insert(cell.timestamp_ms);
  RowPart row;
  for (int64_t time : times) {
    const auto sequence = static_cast<uint32_t>(std::distance(times.begin(), times.find(time)));
    RowPart record;
    for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell) {
      if (cell->timestamp_ms != time) continue;
      PartPoint point;
      if (CanonicalPoint(cell->qualifier, cell->value, &point)) {
        point.sequence = sequence;
        record.points.push_back(point);
      } else {
        record.raw.push_back({cell->qualifier, cell->value, time, sequence, false});
      }
    }
    Normalize(&record);
    row = Merge(record, row);
  }
  return row;
}

TEST_CASE("a row in the form of a Part gives the same points as its cells") {
  for (const Vector& v : ReadVectors()) {
    CAPTURE(v.name);
    auto row = Reconcile(PartOf(v.cells), v.options);
    CHECK((row.ok() ? ShowPoints(row->points) : "error") == v.result);
  }
}

using Table = std::map<std::string, std::map<std::string, std::string>>;

Table ReadTable(const std::string& path) {
  std::ifstream in(HG_SOURCE_DIR "/tests/compat/conformance/" + path);
  Table table;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name, row, family, qualifier, value;
    for (std::string* field : {&name, &row, &family, &qualifier, &value}) {
      std::getline(fields, *field, '\t');
    }
    if (name == "tsdb") table[row][qualifier] = value;
  }
  REQUIRE(!table.empty());
  return table;
}

// Compares the results for the recorded rows with the cells that OpenTSDB left. A row and its
// RowPart must give the same points.
void CheckRecorded(const std::string& suite, const ReconcileOptions& options) {
  const Table before = ReadTable("cells_in/" + suite + ".tsv");
  const Table after = ReadTable("cells/" + suite + ".tsv");
  REQUIRE(before.size() == after.size());
  for (const auto& recorded : before) {
    // In clang a lambda such as that of CAPTURE cannot use a structured binding.
    const std::string& key = recorded.first;
    const std::map<std::string, std::string>& columns = recorded.second;
    CAPTURE(suite);
    CAPTURE(key);
    std::vector<Cell> cells;
    for (const auto& [qualifier, value] : columns) {
      cells.push_back({"t", Hex(qualifier), Hex(value), 1});
    }
    auto expected = after.at(key);
    std::map<std::string, std::string> left = columns;
    auto compactor = PlanRowCompaction(cells, options);
    auto row = Reconcile(cells, options);
    auto part = Reconcile(PartOf(cells), options);
    REQUIRE(compactor.ok() == row.ok());
    REQUIRE(part.ok() == row.ok());
    if (row.ok()) {
      CHECK(ShowPoints(part->points) == ShowPoints(row->points));
      auto repairs = PlanAppendRepair(cells, options);
      REQUIRE(repairs.ok());
      for (const auto* changes : {&*compactor, &*repairs}) {
        for (const CellChange& change : *changes) {
          if (change.kind == CellChange::Kind::kPut) {
            left[ToHex(change.qualifier)] = ToHex(change.value);
          } else {
            left.erase(ToHex(change.qualifier));
          }
        }
      }
    }
    CHECK(left == expected);
  }
}

TEST_CASE("old rows get the cells that OpenTSDB gives them") {
  CheckRecorded("schema-interop", {});
  CheckRecorded("schema-interop-fixed", {.fix_duplicates = true});
  CheckRecorded("schema-interop-append", {.repair_appends = true});
}

TEST_CASE("of values written together the smaller qualifier wins, and of others the later one") {
  const ReconcileOptions fix{.fix_duplicates = true};
  std::vector<Cell> cells = {{"t", Hex("0010"), Hex("07"), 5}, {"t", Hex("0011"), Hex("0008"), 5}};
  CHECK(ShowPoints(Reconcile(cells, fix)->points) == "0010=07");
  cells[1].timestamp_ms = 6;
  CHECK(ShowPoints(Reconcile(cells, fix)->points) == "0011=0008");
  CHECK(ShowPoints(Reconcile(PartOf(cells), fix)->points) == "0011=0008");
  Status refused = Reconcile(cells, {}).status();
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message().find("0008 (qualifier 0011)") != std::string_view::npos);
}

TEST_CASE("a point wins over a compacted cell of the same time if its sequence is later") {
  RowPart row;
  row.raw = {{Hex("00000010"), Hex("010200"), 100, 1, false}};
  RowPart point;
  point.points.resize(1);
  REQUIRE(CanonicalPoint(Hex("0010"), Hex("63"), &point.points[0]));
  const ReconcileOptions fix{.fix_duplicates = true};
  point.points[0].sequence = 2;
  CHECK(ShowPoints(Reconcile(Merge(point, row), fix)->points) == "00000010=016300");
  point.points[0].sequence = 1;
  CHECK(ShowPoints(Reconcile(Merge(point, row), fix)->points) == "00000010=010200");
  CHECK_FALSE(Reconcile(Merge(point, row), {}).ok());
  // The result does not depend on the number of changes between both.
  for (const uint64_t later : {uint64_t{1} << 31, uint64_t{1} << 32, uint64_t{1} << 62}) {
    point.points[0].sequence = later + 1;
    CHECK(ShowPoints(Reconcile(Merge(point, row), fix)->points) == "00000010=016300");
    row.raw[0].sequence = later + 2;
    CHECK(ShowPoints(Reconcile(Merge(point, row), fix)->points) == "00000010=010200");
    row.raw[0].sequence = 1;
  }
}

TEST_CASE("the time to reconcile points of one time does not grow with their square") {
  const ReconcileOptions fix{.fix_duplicates = true};
  constexpr uint32_t kCells = 60'000;
  RowPart row;
  for (uint32_t i = 1; i <= kCells; ++i) {
    Bytes qualifier("\xF0\0\0\0", 4);
    AppendBig(&qualifier, 0xF0000000 | i << 6, 4);
    row.raw.push_back({qualifier, Bytes("\5\6\0", 3), 77, i, false});
  }
  CHECK(CountRawPoints(row) == size_t{2} * kCells);
  const double took =
      CpuSecondsOf([&] { CHECK(Reconcile(row, fix)->points.size() == kCells + 1); });
  CHECK(took < 2);
}

TEST_CASE("the time to compare cells of one record does not grow with their length") {
  constexpr uint32_t kPoints = 100'000;
  RowPart row;
  row.raw.resize(2);
  for (uint32_t i = 0; i < kPoints; ++i) {
    for (RawCell& cell : row.raw) {
      AppendBig(&cell.qualifier, 0xF0000000 | i << 6, 4);
      cell.value += '\5';
    }
  }
  AppendBig(&row.raw[1].qualifier, 0xF0000000 | kPoints << 6, 4);
  row.raw[1].value += '\5';
  const double took =
      CpuSecondsOf([&] { CHECK(Reconcile(row, {})->points.size() == kPoints + 1); });
  CHECK(took < 1);
}

TEST_CASE("dropped points are counted, also those that fail the row") {
  MergeCounters counters;
  ReconcileOptions options;
  options.counters = &counters;
  const auto cell = [](const char* qualifier, const char* value) {
    Cell made{Bytes(kFamily), {}, {}, 1};
    REQUIRE(FromHex(qualifier, &made.qualifier));
    REQUIRE(FromHex(value, &made.value));
    return made;
  };
  CHECK(Reconcile(std::vector<Cell>{cell("0010", "01")}, options).ok());
  CHECK(counters.merges == 0);
  // One second and 1000 ms: two qualifiers for one time.
  CHECK(Reconcile(std::vector<Cell>{cell("0010", "01"), cell("F000FA00", "01")}, options).ok());
  CHECK(counters.merges == 1);
  CHECK(counters.identical == 1);
  CHECK_FALSE(
      Reconcile(std::vector<Cell>{cell("0010", "01"), cell("F000FA00", "02")}, options).ok());
  CHECK(counters.variant == 1);
  options.fix_duplicates = true;
  CHECK(Reconcile(std::vector<Cell>{cell("0010", "01"), cell("F000FA00", "02")}, options).ok());
  CHECK(counters.variant == 2);
  CHECK(counters.identical == 1);
}

TEST_CASE("a cell without a value fails its row if it is the only one, and an append cell always") {
  for (const char* lone : {"0000", "00000010"}) {
    std::vector<Cell> cells = {{"t", Hex(lone), "", 1}};
    CHECK(Reconcile(cells, {}).status().code() == StatusCode::kCorruption);
    CHECK(Reconcile(PartOf(cells), {}).status().code() == StatusCode::kCorruption);
    CHECK_FALSE(PlanRowCompaction(cells, {}).ok());
    cells.push_back({"t", Hex("0020"), Hex("07"), 1});
    CHECK(ShowPoints(Reconcile(cells, {})->points) == "0020=07");
    CHECK(ShowPoints(Reconcile(PartOf(cells), {})->points) == "0020=07");
  }
  std::vector<Cell> append = {{"t", Hex("0010"), Hex("01"), 1}, {"t", Hex("050000"), "", 1}};
  CHECK(Reconcile(append, {}).status().code() == StatusCode::kCorruption);
  CHECK(Reconcile(PartOf(append), {}).status().code() == StatusCode::kCorruption);
}

TEST_CASE("an unsorted compacted cell stays unchanged, and its points are read in order") {
  std::vector<Cell> cells = {{"t", Hex("002000000010"), Hex("03010200"), 1}};
  auto row = Reconcile(cells, {});
  REQUIRE(row.ok());
  CHECK(row->as_stored);
  CHECK(ShowPoints(row->points) == "000000100020=01020300");
}

}  // namespace
}  // namespace hg::points
