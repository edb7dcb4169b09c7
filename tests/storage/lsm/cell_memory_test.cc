#include "storage/lsm/cell_memory.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace hg::lsm {
namespace {

using Random = std::minstd_rand;

Bytes RandomBytes(Random& random) {
  // Mostly small ones; now and then more than what is held as a small put.
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

// One change of the kinds that rows by arrival know, or of those by time.
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
      return row->DropMarks();
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

TEST_CASE("rows are what was done to them, whatever they are held as, and their bytes add up") {
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
    // Another row of the same writer.
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

TEST_CASE("the bytes of a row are those that its last change left") {
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

}  // namespace hg::lsm
