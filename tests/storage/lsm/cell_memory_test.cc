#include "storage/lsm/cell_memory.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"

namespace hg::lsm {
namespace {

using Random = std::minstd_rand;

Bytes RandomBytes(Random& random) {
  // Returns mostly short texts, and sometimes texts that are too long for a packed put.
  return Bytes(random() % 8 == 0 ? random() % 400 : random() % 12, static_cast<char>(random()));
}

CellVersion Version(CellKind kind, const Bytes& qualifier, const Bytes& value, uint64_t sequence) {
  CellVersion version;
  version.family = static_cast<uint8_t>(sequence % 3);
  version.kind = kind;
  version.qualifier = qualifier;
  version.value = value;
  version.timestamp_ms = -static_cast<int64_t>(sequence);
  if (sequence % 4 == 0) version.expires_ms = 1000;
  version.sequence = sequence << 8;
  return version;
}

// Makes a random change, of a kind that rows ordered by arrival have.
void Change(Random& random, uint64_t sequence, CellRow* row) {
  const auto family = static_cast<uint8_t>(random() % 3);
  const Bytes qualifier(1, static_cast<char>('a' + random() % 3));
  const auto time = static_cast<int64_t>(sequence) - 50;
  switch (random() % 10) {
    case 0:
      return row->Append(family, qualifier, RandomBytes(random), time, time);
    case 1:
      return row->DeleteColumn(family, qualifier, time);
    case 2:
      return row->DeleteFamily(family, time);
    case 3:
      return row->Erase(family, qualifier);
    case 4:
      return row->DropTombstones();
    default:
      return row->Put(family, qualifier, RandomBytes(random), time);
  }
}

void ChangeVersions(Random& random, uint64_t sequence, CellRow* row) {
  if (random() % 4 == 0) row->versions.clear();
  const bool put = random() % 3 != 0;
  const CellVersion cell =
      Version(put ? CellKind::kPut : CellKind::kDeleteColumn, RandomBytes(random),
              put ? RandomBytes(random) : Bytes(), sequence);
  row->versions = MergeVersions({cell}, std::move(row->versions));
}

}  // namespace

TEST_CASE("A writer is not starved by overlapping readers") {
  constexpr uint64_t kReadsMax = 60'000;  // reads per reader, which then gives up
  constexpr int kReaders = 4;
  std::atomic<size_t> total{0};
  CellMemory memory(&total);
  std::atomic<bool> written{false};
  std::atomic<uint64_t> reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      for (uint64_t n = 0; n < kReadsMax && !written; ++n) {
        memory.WithShared([&](const CellMemory::Rows&) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          ++reads;
        });
      }
    });
  }
  while (reads < kReaders) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) {
    CellMemory::Writer writer(memory);
    writer.Row("key").Put(0, "q", "v", i);
  }
  written = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(reads < kReaders * kReadsMax / 4);
}

TEST_CASE(
    "stored rows are the results of their changes, in every representation, and so are "
    "their sizes") {
  Random random(7);
  std::atomic<size_t> total{100};
  CellMemory memory(&total);
  std::map<Bytes, CellRow> expected;
  for (uint64_t sequence = 1; sequence < 20'000; ++sequence) {
    const bool by_time = random() % 2 == 0;
    const Bytes key = (by_time ? "t" : "a") + std::to_string(random() % 300);
    const auto change = [&](Random with, CellRow* row) {
      for (size_t times = with() % 3; times > 0; --times) {
        if (by_time) {
          ChangeVersions(with, sequence, row);
        } else {
          Change(with, sequence, row);
        }
      }
    };
    CellMemory::Writer writer(memory);
    const bool known = expected.contains(key);
    if (random() % 3 == 0) {
      CellRow* row = writer.Find(key);
      REQUIRE((row != nullptr) == known);
      if (row == nullptr) continue;
      REQUIRE(*row == expected[key]);
      change(random, row);
    } else {
      change(random, &writer.Row(key));
      REQUIRE(writer.Find(key) == &writer.Row(key));
    }
    change(random, &expected[key]);
    random.discard(1);
    // Another row of the same Writer.
    if (random() % 5 == 0) {
      writer.Row("b").Put(0, "q", RandomBytes(random), 1);
      expected["b"] = writer.Row("b");
    }
  }
  REQUIRE(expected.size() > 500);
  size_t at_least = 0;
  for (const auto& [key, row] : expected) {
    CellRow held;
    REQUIRE(memory.Get(key, &held));
    REQUIRE(held == row);
    at_least += key.size();
  }
  std::vector<KeyedRow> copied;
  memory.Copy("", false, "", SIZE_MAX, &copied);
  REQUIRE(copied.size() == expected.size());
  for (const KeyedRow& row : copied) REQUIRE(row.row == expected[row.key]);
  CHECK(memory.bytes() > at_least);
  CHECK(total == 100 + memory.bytes());
  CellRow nothing;
  CHECK_FALSE(memory.Get("c", &nothing));
}

// Removes what no reader sees. A wide row may still have cells that a tombstone of a family hides.
CellRow Tidied(Families families, CellRow row) {
  TidyVersions(families, {INT64_MIN, INT64_MIN}, &row.versions);
  return row;
}

TEST_CASE("A wide row that is changed column by column equals the sum of its changes") {
  Random random(11);
  std::atomic<size_t> total{0};
  CellMemory memory(&total);
  const std::vector<FamilyDescriptor> families = {{"a"}, {"b"}};
  CellRow by_arrival, by_time;
  size_t most = 0;
  for (uint64_t sequence = 1; sequence < 30'000; ++sequence) {
    const auto family = static_cast<uint8_t>(random() % 2);
    const Bytes qualifier = random() % 50 == 0 ? "" : std::to_string(random() % 400);
    const auto time_ms = static_cast<int64_t>(sequence);
    CellMemory::Writer writer(memory);
    const auto change_cells = [&](uint64_t what, CellRow* row) {
      if (what < 6) row->Put(family, qualifier, "value", time_ms);
      if (what == 6) row->DeleteColumn(family, qualifier, time_ms);
      if (what == 7) row->Append(family, qualifier, "more", time_ms, time_ms);
      if (what == 8) row->Erase(family, qualifier);
    };
    const uint64_t what = random() % 9;
    const CellVersion version{family,       what < 8 ? CellKind::kPut : CellKind::kDeleteColumn,
                              qualifier,    what < 8 ? "value" : "",
                              time_ms,      kNeverExpires,
                              sequence << 8};
    if (random() % 3 == 0) {
      CellRow* row = writer.FindColumn("arrival", family, qualifier);
      if (row != nullptr) change_cells(what, row);
      if (row != nullptr) change_cells(what, &by_arrival);
    } else {
      change_cells(what, &writer.Column("arrival", family, qualifier));
      change_cells(what, &by_arrival);
    }
    CellVersions versions = {version};
    for (uint64_t i = random() % 3; i > 0; --i) {
      versions.push_back(version);
      versions.back().family = static_cast<uint8_t>(random() % 2);
      versions.back().qualifier = std::to_string(random() % 400);
    }
    writer.AddVersions("time", families, versions);
    AddVersions(families, versions, &by_time.versions);
    if (random() % 5000 == 0) {
      writer.Row("arrival").DeleteFamily(family, time_ms);
      by_arrival.DeleteFamily(family, time_ms);
      const CellVersion tombstone{family,        CellKind::kDeleteFamily, "", "", time_ms,
                                  kNeverExpires, sequence << 8 | 1};
      writer.AddVersions("time", families, {tombstone});
      AddVersions(families, {tombstone}, &by_time.versions);
    }
    most = std::max(most, by_time.versions.size());
    if (sequence % 100 != 0) continue;
    // A requested row is stored back when the next one is requested.
    writer.Row("other");
    writer.Find("none");
  }
  REQUIRE(most > 500);
  for (const auto& [key, expected] : {std::pair("arrival", by_arrival), {"time", by_time}}) {
    CellRow held;
    REQUIRE(memory.Get(key, &held));
    REQUIRE(Tidied(families, held) == expected);
    std::vector<Bytes> wanted = {"7", "333", "none", "7"};
    for (const bool with_empty : {false, true}) {
      if (with_empty) wanted.emplace_back();
      const ColumnChoice columns(wanted);
      CellRow chosen = expected;
      chosen.Keep(columns);
      const Result<bool> found = memory.Get(key, columns, nullptr, &held);
      REQUIRE(found.ok());
      held.Keep(columns);
      CHECK(Tidied(families, held) == chosen);
      Bytes bytes;
      EncodeCellRow(expected, &bytes);
      REQUIRE(DecodeCellRow(bytes, &held, columns));
      held.Keep(columns);
      CHECK(held == chosen);
      CHECK(CellsIn(bytes) == expected.cells.size() + expected.versions.size());
    }
  }
  std::vector<KeyedRow> copied;
  memory.Copy("", false, "", SIZE_MAX, &copied);
  CHECK(copied[0].left_out);
  CHECK(total == memory.bytes());
}

TEST_CASE(
    "a column of a wide row with many versions and tombstones equals the sum of its changes") {
  Random random(5);
  std::vector<FamilyDescriptor> families = {{"a"}, {"b"}};
  // Versions above the limit may become visible again after a delete, as in HBase, so the limit is
  // not reached here.
  for (FamilyDescriptor& family : families) family.versions = 1'000'000;
  for (const bool keeps_deleted : {false, true}) {
    families[0].keep_deleted_cells = keeps_deleted;
    std::atomic<size_t> total{0};
    CellMemory memory(&total);
    CellVersions expected;
    size_t most = 0;
    for (uint64_t sequence = 1; sequence < 12'000; ++sequence) {
      constexpr CellKind kKinds[] = {CellKind::kDelete, CellKind::kDeleteFamilyVersion,
                                     CellKind::kDeleteColumn, CellKind::kDeleteFamily};
      const uint64_t what = random() % 400;
      CellVersion cell;
      cell.family = static_cast<uint8_t>(random() % 8 == 0);
      cell.kind = what < 40 ? kKinds[0] : what < 80 ? kKinds[1] : CellKind::kPut;
      if (sequence % 3000 == 0) cell.kind = kKinds[2 + random() % 2];
      const bool of_family = IsFamilyTombstone(cell);
      if (!of_family) cell.qualifier = random() % 4 == 0 ? "" : std::to_string(random() % 3);
      if (cell.kind == CellKind::kPut) cell.value = std::to_string(sequence);
      cell.timestamp_ms = static_cast<int64_t>(random() % 1500);
      if (cell.kind == CellKind::kDeleteFamily) cell.timestamp_ms /= 4;
      cell.sequence = sequence << 8;
      CellMemory::Writer(memory).AddVersions("k", families, {cell});
      AddVersions(families, {cell}, &expected);
      most = std::max(most, expected.size());
      if (sequence % 50 != 0) continue;
      CellRow held;
      REQUIRE(memory.Get("k", &held));
      REQUIRE(Tidied(families, held).versions == expected);
    }
    CHECK(most > 1000);
    CHECK(total == memory.bytes());
  }
}

TEST_CASE("a change of a wide row does not access its other cells") {
  std::vector<FamilyDescriptor> families = {{"a"}};
  families[0].versions = 1'000'000;
  std::atomic<size_t> total{0};
  CellMemory memory(&total);
  CellVersion cell{0, CellKind::kPut, "q", "v", 0, kNeverExpires, 0};
  const auto add = [&](const Bytes& key) {
    cell.sequence += 256;
    CellMemory::Writer(memory).AddVersions(key, families, {cell});
  };
  CHECK(CpuSecondsOf([&] {
          for (int i = 0; i < 100'000; ++i) {
            ++cell.timestamp_ms;
            add("one column");
            cell.qualifier = std::to_string(i);
            add("many columns");
            cell.qualifier = "q";
          }
          cell = {0, CellKind::kDeleteFamily, "", "", 50, kNeverExpires, cell.sequence};
          for (int i = 0; i < 10'000; ++i) {
            ++cell.timestamp_ms;
            add("many columns");
          }
        }) < 10);
  CellRow row;
  REQUIRE(memory.Get("one column", &row));
  CHECK(row.versions.size() == 100'000);
  REQUIRE(memory.Get("many columns", ColumnChoice({"99999"}), nullptr, &row).ok());
  CHECK(Tidied(families, row).versions.size() == 2);  // the put and the newest tombstone
}

TEST_CASE("changes of many columns in one record take little time, in every order") {
  std::atomic<size_t> total{0};
  CellMemory memory(&total);
  constexpr int kColumns = 50'000;
  CHECK(CpuSecondsOf([&] {
          {
            CellMemory::Writer writer(memory);
            writer.Column("k", 0, "z").Put(0, "z", "v", 1);
            for (int i = kColumns; i > 0; --i) {
              const Bytes qualifier = std::to_string(100'000 + i);
              writer.Column("k", 1, qualifier).Put(1, qualifier, "v", 1);
            }
          }
          CellMemory::Writer writer(memory);
          for (int i = 0; i < kColumns; ++i) {
            writer.DeleteFamily("k", 0, i);
            writer.Column("k", 0, "a").Put(0, "a", "v", i);
          }
        }) < 3);
  CellRow row;
  REQUIRE(memory.Get("k", &row));
  CHECK(row.cells.size() == kColumns + 1);
  CHECK(row.family_tombstones == std::vector<int64_t>{kColumns - 1});
  {
    CellMemory::Writer writer(memory);
    writer.DeleteFamily("k", 1, 5);
    writer.DeleteFamily("k", 0, kColumns);
  }
  REQUIRE(memory.Get("k", &row));
  CHECK(row.cells.empty());
  CHECK(row.family_tombstones == std::vector<int64_t>{kColumns, 5});
  CHECK(total == memory.bytes());
}

TEST_CASE("many columns of a wide row with many families are read in one walk") {
  std::atomic<size_t> total{0};
  CellMemory memory(&total);
  std::vector<Bytes> wanted;
  for (int i = 0; i < 200'000; ++i) wanted.push_back("q" + std::to_string(i));
  {
    CellMemory::Writer writer(memory);
    for (int i = 0; i < 1440; ++i) {
      const auto family = static_cast<uint8_t>(i % 240);
      writer.Column("k", family, "q" + std::to_string(i))
          .Put(family, "q" + std::to_string(i), "v", 1);
    }
  }
  const ColumnChoice columns(wanted);
  CellRow row;
  CHECK(CpuSecondsOf([&] { REQUIRE(*memory.Get("k", columns, nullptr, &row)); }) < 0.5);
  CHECK(row.cells.size() == 1440);
}

TEST_CASE("a scan copies small rows together, and each large row only when it is read") {
  std::atomic<size_t> total{0};
  CellMemory memory(&total);
  CellMemory::Writer(memory).Row("large").Put(0, "q", Bytes(CellMemory::kCopiedBytes, 'v'), 1);
  CellMemory::Writer(memory).Row("small").Put(0, "q", "v", 1);
  std::vector<KeyedRow> copied;
  memory.Copy("", false, "", 10, &copied);
  REQUIRE(copied.size() == 2);
  CHECK(copied[0].left_out);
  CHECK(copied[0].row.empty());
  CHECK_FALSE(copied[1].left_out);
  CellRow row;
  REQUIRE(memory.Get("large", &row));
  CHECK(row.cells[0].value.size() == CellMemory::kCopiedBytes);
}

TEST_CASE("the counted size of a row is its size after the last change") {
  std::atomic<size_t> total{0};
  CellMemory memory(&total);
  const auto bytes_with = [&](size_t value) {
    CellMemory::Writer(memory).Row("key").Put(0, "q", Bytes(value, 'v'), 1);
    return memory.bytes();
  };
  const size_t small = bytes_with(10);
  CHECK(small < 160);
  CHECK(bytes_with(20) == small + 10);
  CHECK(bytes_with(5000) > 5000);
  CHECK(bytes_with(10) == small);
  CHECK(total == small);
}

TEST_CASE("the bytes of a named column of a wide row are charged before they are copied") {
  std::atomic<size_t> total{0};
  CellMemory memory(&total);
  {
    CellMemory::Writer writer(memory);
    for (int i = 0; i < 200; ++i) {
      writer.Row("k").Put(0, "q" + std::to_string(i), Bytes(i == 7 ? 1 << 20 : 10, 'v'), 1);
    }
  }
  FakeWatch request;
  MemoryTally tally(&request);
  CellRow row;
  REQUIRE(*memory.Get("k", ColumnChoice({"q8"}), &tally, &row));
  CHECK(tally.held() < 1000);
  REQUIRE(*memory.Get("k", ColumnChoice({"q7", "q8"}), &tally, &row));
  CHECK(tally.held() > 2 << 20);
  request.bytes_max = request.bytes + (1 << 20);
  CHECK(memory.Get("k", ColumnChoice({"q7"}), &tally, &row).status().code() ==
        StatusCode::kLimitExceeded);
}

}  // namespace hg::lsm
