#include "storage/lsm/cell_file.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "tests/fault/faulty_file.h"
#include "tests/support/fake_watch.h"

namespace hg::lsm {
namespace {

using Rows = std::map<Bytes, CellRow>;

CellRow ByTime(size_t columns, uint8_t families, size_t versions = 1) {
  CellRow row;
  for (uint8_t family = 0; family < families; ++family) {
    CellVersion tombstone;
    tombstone.family = family;
    tombstone.kind = CellKind::kDeleteFamily;
    tombstone.timestamp_ms = 1;
    row.versions.push_back(tombstone);
    for (size_t i = 0; i < columns; ++i) {
      CellVersion cell;
      cell.family = family;
      AppendBig(&cell.qualifier, 2 * i, 4);
      cell.value = Bytes(60, 'v');
      for (size_t version = versions; version > 0; --version) {
        cell.timestamp_ms = static_cast<int64_t>(100 + version);
        row.versions.push_back(cell);
      }
    }
  }
  return row;
}

CellRow ByArrival(size_t columns) {
  CellRow row;
  row.family_tombstones = {kNoTombstone, 7};
  for (size_t i = 0; i < columns; ++i) {
    StoredCell cell;
    cell.family = static_cast<uint8_t>(2 * i / columns);
    cell.has_value = true;
    AppendBig(&cell.qualifier, 2 * i, 4);
    cell.value = Bytes(60, 'v');
    cell.timestamp_ms = 9;
    row.cells.push_back(cell);
  }
  return row;
}

// Returns a row that is stored in two pieces.
CellRow TwoPieces() {
  CellRow row = ByTime(2, 1);
  row.versions.erase(row.versions.begin());  // the tombstone would be a piece of its own
  for (CellVersion& cell : row.versions) cell.value = Bytes(20'000, 'v');
  return row;
}

Bytes ColumnName(uint32_t number) {
  Bytes name;
  AppendBig(&name, number, 4);
  return name;
}

/// A file that counts the block reads.
struct RowsInFile {
  explicit RowsInFile(const Rows& rows) {
    BlockWriting writing;
    writing.packing = Packing::kPlain;
    auto writer = *BlockFileWriter::Create(disk, "d/file", writing);
    for (const auto& [key, row] : rows) REQUIRE(AddRow(key, row, writer.get()).ok());
    REQUIRE(writer->Finish().ok());
    BlockReading reading;
    reading.counters = counters;
    file = *BlockFile::Open(disk, "d/file", reading);
  }

  CellRow Get(ByteView key, const ColumnChoice& wanted = {}) {
    CellRow row;
    const auto found = GetRow(*file, key, wanted, nullptr, &row);
    INFO(key, " ", found.status().ToString());
    REQUIRE(found.ok());
    REQUIRE(*found);
    return row;
  }

  Rows Scan(Bytes start, Bytes stop, const ColumnChoice& wanted = {}) {
    Rows rows;
    const auto source = ScanRows(file, std::move(start), std::move(stop));
    for (;;) {
      const auto more = source->Next();
      REQUIRE(more.ok());
      if (!*more) return rows;
      auto row = source->TakeRow(wanted, nullptr);
      REQUIRE(row.ok());
      CHECK(rows.emplace(source->key(), std::move(*row)).second);
    }
  }

  FaultyFileSystem disk{1};
  std::shared_ptr<ReadCounters> counters = std::make_shared<ReadCounters>();
  std::shared_ptr<const BlockFile> file;
};

Rows WideAndNarrow() {
  return {{"a", ByTime(2, 1)},  {"b", ByTime(5000, 2)}, {Bytes("b\0", 2), ByArrival(5000)},
          {"b1", ByTime(1, 2)}, {"c", ByArrival(5000)}, {"d", ByTime(3, 1, 2000)},
          {"e", ByTime(1, 2)},  {"f", ByArrival(3)}};
}

TEST_CASE("finding a column of a wide row looks at few pieces, however many there are") {
  RowsInFile rows({{"r", ByTime(100'000, 1)}});
  const ColumnChoice one({ColumnName(100'000)});
  size_t asked = 0, read = 0;
  const auto wanted = [&](ByteView column) {
    ++asked;
    return one.NextFrom(column);
  };
  const auto visit = [&](ByteView) {
    ++read;
    return Status();
  };
  const auto found = rows.file->VisitPieces("r", wanted, visit);
  REQUIRE(found.ok());
  CHECK(rows.file->blocks() > 500);
  CHECK(asked <= 4);
  CHECK(read <= 4);
}

}  // namespace

TEST_CASE("rows are read back, by key and by scan, however wide they are") {
  const Rows rows = WideAndNarrow();
  RowsInFile f(rows);
  CHECK(f.file->entries() == rows.size());
  CHECK(f.file->blocks() > 100);
  CHECK(BlockFile::Check(f.file).ok());
  for (const auto& [key, row] : rows) CHECK(f.Get(key) == row);
  CHECK(f.Scan("", "") == rows);
  for (const ByteView start : {"a", "aa", "b", "b0", "b1", "bb", "c", "cc", "d", "f", "g"}) {
    for (const ByteView stop : {"", "b", "b0", "c", "cc", "f"}) {
      Rows expected;
      for (const auto& [key, row] : rows) {
        if (key >= start && (stop.empty() || key < stop)) expected.emplace(key, row);
      }
      CHECK(f.Scan(Bytes(start), Bytes(stop)) == expected);
    }
  }
  for (const ByteView absent : {"", "aa", "b0", "bb", "cc", "dd", "g"}) {
    CellRow row;
    CHECK_FALSE(*GetRow(*f.file, absent, {}, nullptr, &row));
  }
}

TEST_CASE("a scan that seeks finds rows before, within and after a wide row") {
  const Rows rows = WideAndNarrow();
  RowsInFile f(rows);
  std::mt19937_64 random(7);
  const std::vector<Bytes> places = {"", "a", "aa", "b", "b0", "b1", "c", "cc", "d", "e", "f", "g"};
  const auto source = ScanRows(f.file, "", "");
  for (int i = 0; i < 3000; ++i) {
    const Bytes& start = places[random() % places.size()];
    source->Seek(start);
    auto expected = rows.lower_bound(start);
    for (uint64_t steps = random() % 4; steps > 0; --steps) {
      const auto more = source->Next();
      REQUIRE(more.ok());
      REQUIRE(*more == (expected != rows.end()));
      if (!*more) break;
      REQUIRE(source->key() == expected->first);
      if (random() % 3 == 0) REQUIRE(*source->TakeRow({}, nullptr) == expected->second);
      ++expected;
    }
  }
}

TEST_CASE("a scan that seeks finds rows of two pieces, in the middle and at the end of a file") {
  const Rows rows = {{"a", ByTime(2, 1)}, {"b", TwoPieces()}, {"c", ByTime(2, 1)},
                     {"d", TwoPieces()},  {"e", TwoPieces()}, {"f", TwoPieces()}};
  RowsInFile f(rows);
  for (const auto& [from, row] : rows) {
    for (auto to = rows.upper_bound(from); to != rows.end(); ++to) {
      const auto source = ScanRows(f.file, from, "");
      REQUIRE(*source->Next());
      REQUIRE(source->key() == from);
      source->Seek(to->first);
      REQUIRE(*source->Next());
      REQUIRE(source->key() == to->first);
      REQUIRE(*source->TakeRow({}, nullptr) == to->second);
    }
  }
}

TEST_CASE("long names of columns do not make the index of a file large") {
  for (const size_t same : {0, 5'000}) {
    CAPTURE(same);
    CellRow row;
    size_t bytes = 0;
    for (uint32_t i = 0; i < 1000; ++i) {
      StoredCell cell;
      cell.has_value = true;
      cell.qualifier = Bytes(same, 'q') + ColumnName(i) + Bytes(5'000 - same, 'q');
      bytes += cell.qualifier.size();
      row.cells.push_back(cell);
    }
    RowsInFile f({{"a", ByTime(2, 1)}, {"row", row}, {"s", ByTime(2, 1)}});
    CHECK(f.file->blocks() > 4);
    CHECK(f.file->memory_bytes() < bytes / 40);
    CHECK(f.Get("row") == row);
    for (size_t i = 0; i < 1000; i += 7) {
      const ColumnChoice wanted({row.cells[i].qualifier});
      const uint64_t before = f.counters->blocks;
      REQUIRE(f.Get("row", wanted).cells.size() == 1);
      CHECK(f.counters->blocks - before <= 4);
    }
    CHECK(f.Get("row", ColumnChoice({ColumnName(5)})).cells.empty());
  }
}

TEST_CASE("a column of a wide row is read without the pieces that cannot have it") {
  const Rows rows = WideAndNarrow();
  RowsInFile f(rows);
  for (const Bytes key : {"b", "c", "d"}) {
    const CellRow& whole = rows.at(key);
    for (uint32_t number = 0; number < 10'000; number += 499) {
      const ColumnChoice wanted({ColumnName(number)});
      CellRow expected = whole;
      expected.Keep(wanted);
      const uint64_t before = f.counters->blocks;
      CHECK(f.Get(key, wanted) == expected);
      if (key != "d") CHECK(f.counters->blocks - before <= 7);
      CHECK(f.Scan(key, key + '\0', wanted).at(key) == expected);
    }
  }
}

TEST_CASE("reading a column of a wide row is charged only for the pieces read") {
  RowsInFile f({{"row", ByTime(50'000, 1)}});
  FakeWatch request;
  MemoryTally memory(&request);
  CellRow row;
  REQUIRE(*GetRow(*f.file, "row", ColumnChoice({ColumnName(5000)}), &memory, &row));
  CHECK(row.versions.size() == 2);
  CHECK(request.steps < 2000);
}

TEST_CASE("the bytes of a named column are charged before they are copied, and no other bytes") {
  CellRow large = ByTime(10, 1), large_by_arrival = ByArrival(10);
  for (CellVersion& cell : large.versions) {
    if (cell.kind == CellKind::kPut) cell.value = Bytes(1 << 20, 'v');
  }
  for (StoredCell& cell : large_by_arrival.cells) cell.value = Bytes(1 << 20, 'v');
  RowsInFile f({{"a", large}, {"b", large_by_arrival}});
  for (const Bytes key : {"a", "b"}) {
    CAPTURE(key);
    FakeWatch request;
    MemoryTally memory(&request);
    CellRow row;
    REQUIRE(*GetRow(*f.file, key, ColumnChoice({ColumnName(4), ColumnName(8)}), &memory, &row));
    CHECK(memory.held() > 4 << 20);  // two columns, two copies of each
    CHECK(memory.held() < 5 << 20);
    const int64_t held = memory.held();
    // The piece of the row that is always read first has a large column that is not wanted.
    REQUIRE(*GetRow(*f.file, key, ColumnChoice({"absent"}), &memory, &row));
    CHECK(memory.held() < held + 1000);
    request.bytes_max = request.bytes + (1 << 20);
    CHECK(GetRow(*f.file, key, ColumnChoice({ColumnName(4)}), &memory, &row).status().code() ==
          StatusCode::kLimitExceeded);
    const auto source = ScanRows(f.file, key, key + '\0');
    REQUIRE(*source->Next());
    CHECK(source->TakeRow(ColumnChoice({ColumnName(4)}), &memory).status().code() ==
          StatusCode::kLimitExceeded);
  }
}

TEST_CASE("a damaged piece of a row is reported with its position") {
  RowsInFile f({{"row", ByTime(5000, 1)}});
  f.disk.FlipBit("d/file", 100'000, 0);
  CellRow row;
  const Status got = GetRow(*f.file, "row", {}, nullptr, &row).status();
  CHECK(got.code() == StatusCode::kCorruption);
  CHECK(got.message().find("d/file at ") != std::string_view::npos);
  CHECK(BlockFile::Check(f.file).code() == StatusCode::kCorruption);
  CHECK(GetRow(*f.file, "row", ColumnChoice({ColumnName(0)}), nullptr, &row).ok());
}

}  // namespace hg::lsm
