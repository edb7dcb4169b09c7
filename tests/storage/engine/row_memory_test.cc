// Row-hours in memory: the cost of one more point.

#include "storage/engine/row_memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "storage/codec/qualifier.h"
#include "tests/support/cpu_time.h"

namespace {
std::atomic<size_t> allocations{0};
std::atomic<size_t> largest_allocation{0};  // in bytes; only one thread may measure it
}  // namespace

void* operator new(size_t bytes) {
  ++allocations;
  if (bytes > largest_allocation) largest_allocation = bytes;
  if (void* p = std::malloc(bytes)) return p;
  std::abort();
}
void* operator new[](size_t bytes) { return operator new(bytes); }
// std::stable_sort requests its buffer in this way.
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace hg::engine {
namespace {

// The 4-byte form for a one-byte integer.
uint32_t Millis(uint32_t offset_ms) { return codec::kMillisMark | offset_ms << 6; }

// Under the write lock only the last entries of a row are examined. Reading all of them would need
// at least one allocation per point.
TEST_CASE("points within a record cost the same, however long the row is") {
  for (const bool rising_before : {true, false}) {
    CAPTURE(rising_before);
    RowMemory rows;
    RowHourMemory* row = rows.FindOrMake(1, 0);
    constexpr uint32_t kBefore = 8000;
    for (uint32_t i = 0; i < kBefore; ++i) {
      const uint32_t offset = rising_before ? i : kBefore - i;
      rows.Put(row, 1 + i / 500, Millis(offset), i, points::RowForm::kAuto);
    }
    const size_t before = allocations;
    for (uint32_t i = 0; i < 512; ++i) {
      rows.Put(row, 1000, Millis(1'000'000 - i), i, points::RowForm::kAuto);
    }
    CHECK(allocations - before <= 64);  // the allocations of the arena, and the first ones
    points::RowPart part;
    row->Read(&part);
    CHECK(part.points.size() == kBefore + 512);
  }
}

TEST_CASE(
    "of points of one record at one time the later one is newer, and of single cells the "
    "one with the smaller qualifier, also across chunks") {
  // The same time with two widths of value, with a full tail in between.
  for (const auto form : {points::RowForm::kAuto, points::RowForm::kSingle}) {
    for (uint32_t between = 0; between < 16; ++between) {
      for (uint32_t before = 0; before < 20; ++before) {
        CAPTURE(between);
        CAPTURE(before);
        RowMemory rows;
        RowHourMemory* row = rows.FindOrMake(1, 0);
        for (uint32_t i = 0; i < before; ++i) rows.Put(row, 1, Millis(i), 0, form);
        rows.Put(row, 2, Millis(5000), 7, form);
        for (uint32_t i = 0; i < between; ++i) rows.Put(row, 2, Millis(9000 - i), 0, form);
        rows.Put(row, 2, Millis(5000) | 1, 8, form);
        points::RowPart part;
        row->Read(&part);
        REQUIRE(part.points.size() == before + between + 2);
        // The newest point of a time comes last. The first two after `before` are those of 5000.
        REQUIRE(part.points[before + 1].bits == (form == points::RowForm::kSingle ? 7 : 8));
      }
    }
  }
}

// One-byte integers, floats and doubles, which make rows of one type and mixed rows.
std::pair<uint32_t, uint64_t> ValueOf(uint32_t kind, uint32_t i) {
  switch (kind) {
    case 0:
      return {0, i % 100};
    case 1:
      return {kFloat32, std::bit_cast<uint32_t>(0.1F * float(i))};
    default:
      return {kFloat64, std::bit_cast<uint64_t>(0.1 * double(i))};
  }
}

TEST_CASE("the columns of a row are the result of its puts, whatever the order of their times") {
  std::mt19937 random(11);
  size_t given = 0;
  for (int round = 0; round < 600; ++round) {
    RowMemory rows;
    RowHourMemory* row = rows.FindOrMake(1, 0);
    const uint32_t count = random() % 60;
    const uint32_t kinds = 1 + random() % 3;
    const uint32_t spread = round % 4 == 0 ? 1 : 1 + random() % 30;  // how far back a point may be
    const bool repeats = round % 5 == 1;
    const bool deletes = round % 5 == 2;
    std::set<uint32_t> instants;
    for (uint32_t i = 0; i < count; ++i) {
      const auto [flags, bits] = ValueOf(random() % kinds, i);
      // Different times, unless some are to repeat.
      const uint32_t offset = (i + 30 - random() % spread) * 100 + (repeats ? 0 : i);
      instants.insert(offset);
      rows.Put(row, i + 1, Millis(offset) | flags, bits, points::RowForm::kAuto);
    }
    if (deletes) {
      rows.Begin(row);
      rows.WriteDelete(row, count + 1, Millis(0));
      rows.Publish(row);
    }
    points::RowColumns columns;
    points::RowForm form = points::RowForm::kOne;
    const bool puts = row->AppendTo(&columns, &form);
    CHECK(puts == !deletes);
    if (!puts) continue;
    const bool sorted = columns.SortByTime();
    CHECK(sorted == (instants.size() == count));
    if (!sorted) continue;
    ++given;
    points::RowPart part;
    row->Read(&part);
    CHECK(form == part.form);
    REQUIRE(columns.size() == part.points.size());
    REQUIRE(columns.value.size() == part.points.size());
    for (size_t i = 0; i < part.points.size(); ++i) {
      const PointValue value{part.points[i].bits, part.points[i].qualifier.flags()};
      REQUIRE(columns.offset_ms[i] == part.points[i].offset_ms());
      CHECK((columns.is_double.empty() ? columns.all_double : columns.is_double[i] != 0) ==
            value.is_float());
      CHECK(columns.value[i] ==
            (value.is_float() ? std::bit_cast<uint64_t>(value.as_double()) : value.bits));
    }
  }
  CHECK(given > 200);
}

TEST_CASE("repeated writes of the same points do not make a row longer") {
  for (const uint32_t distinct : {1U, 3600U, 20'000U}) {
    CAPTURE(distinct);
    RowMemory rows;
    RowHourMemory* row = rows.FindOrMake(1, 0);
    constexpr uint32_t kWrites = 300'000;
    for (uint32_t i = 0; i < kWrites; ++i) {
      rows.Put(row, i / 50'000 + 1, Millis(i % distinct), i % 100, points::RowForm::kAuto);
    }
    CHECK(row->entries() <= 4 * distinct + 5000);
    points::RowPart part;
    row->Read(&part);
    REQUIRE(part.points.size() == distinct);
    for (uint32_t i = 0; i < distinct; ++i) {
      const uint32_t last = (kWrites - 1 - i) / distinct * distinct + i;
      REQUIRE(part.points[i].offset_ms() == i);
      REQUIRE(part.points[i].bits == last % 100);
    }
  }
}

TEST_CASE("points that arrive once each are not rewritten, however many they are") {
  for (const bool rising : {true, false}) {
    RowMemory rows;
    RowHourMemory* row = rows.FindOrMake(1, 0);
    constexpr uint32_t kPoints = 100'000;
    for (uint32_t i = 0; i < kPoints; ++i) {
      rows.Put(row, i + 1, Millis(rising ? i : kPoints - i), i % 100, points::RowForm::kAuto);
    }
    CHECK(row->entries() == kPoints);
    CHECK(rows.bytes() < size_t{7} * kPoints);
  }
}

TEST_CASE("finding an hour takes the same time, however many hours a series has in memory") {
  RowMemory rows;
  constexpr uint32_t kHours = 200'000;
  for (uint32_t hour = 0; hour < kHours; ++hour) rows.FindOrMake(1, hour * 3600);
  const double seconds = CpuSecondsOf([&] {
    for (uint32_t hour = 0; hour < kHours; ++hour) {
      REQUIRE(rows.FindToRead(1, hour * 3600)->base() == hour * 3600);
    }
  });
  CHECK(seconds < 2);
  CHECK(rows.FindToRead(1, kHours * 3600) == nullptr);
  CHECK(rows.FindToRead(2, 0) == nullptr);
}

// std::hash returns the number of an hour unchanged, and std::unordered_map has 85,229 buckets for
// these hours. Therefore, a std::unordered_map<uint64_t, …> has all of these hours in one bucket.
TEST_CASE("finding an hour takes the same time, whichever hours a client chooses") {
  constexpr uint32_t kBuckets = 85'229, kHours = UINT32_MAX / 3600, kRows = 70'000;
  std::array<uint32_t, kBuckets> hour_of;  // index: base time modulo kBuckets
  for (uint32_t hour = 0; hour < kBuckets; ++hour) {
    hour_of[uint64_t{hour} * 3600 % kBuckets] = hour;
  }
  std::vector<std::pair<uint32_t, uint32_t>> chosen;  // series and base time
  for (uint32_t series = 1; chosen.size() < kRows; ++series) {
    const uint32_t first = hour_of[kBuckets - (uint64_t{series} << 32) % kBuckets];
    for (uint32_t hour = first; hour < kHours; hour += kBuckets) {
      chosen.emplace_back(series, hour * 3600);
      REQUIRE((uint64_t{series} << 32 | hour * 3600) % kBuckets == 0);
    }
  }
  RowMemory rows;
  const double seconds = CpuSecondsOf([&] {
    for (const auto& [series, base] : chosen) rows.FindOrMake(series, base);
    for (const auto& [series, base] : chosen) {
      REQUIRE(rows.FindToRead(series, base)->base() == base);
    }
  });
  CHECK(seconds < 2);
}

// A writer adds hours under the write lock. A table of all hours would need an allocation of
// several MiB, and the writer would copy all hours to this table.
TEST_CASE("adding an hour moves only few other hours, however many are in memory") {
  RowMemory rows;
  largest_allocation = 0;
  for (uint32_t hour = 0; hour < 500'000; ++hour) rows.FindOrMake(1, hour * 3600);
  CHECK(largest_allocation <= 2 << 20);  // the rows themselves are in areas of this size
}

TEST_CASE("a reader finds every hour that it has seen before, while the writer adds hours") {
  RowMemory rows;
  constexpr uint32_t kHours = 20'000;
  std::atomic<uint32_t> made{0};
  std::thread writer([&] {
    for (uint32_t hour = 0; hour < kHours; ++hour) {
      rows.FindOrMake(1, hour * 3600);
      made.store(hour + 1, std::memory_order_release);
    }
  });
  uint32_t missing = 0, seen = 0;
  for (uint32_t i = 0; seen < kHours; i += 7919) {
    seen = made.load(std::memory_order_acquire);
    if (seen == 0) continue;
    const uint32_t base = i % seen * 3600;
    const RowHourMemory* const row = rows.FindToRead(1, base);
    missing += row == nullptr || row->base() != base ? 1 : 0;
  }
  writer.join();
  CHECK(missing == 0);
}

TEST_CASE("the time to read a row grows with its points and deletes, not with their product") {
  constexpr uint32_t kPoints = 200'000;
  RowMemory rows;
  RowHourMemory* row = rows.FindOrMake(1, 0);
  for (uint32_t i = 0; i < kPoints; ++i)
    rows.Put(row, 1 + i / 500, Millis(i), 1, points::RowForm::kAuto);
  rows.Begin(row);
  for (uint32_t i = 0; i < kPoints; i += 2) rows.WriteDelete(row, kPoints, Millis(i));
  rows.Publish(row);
  rows.Put(row, kPoints + 1, Millis(4), 2, points::RowForm::kAuto);
  points::RowPart part;
  CHECK(CpuSecondsOf([&] { row->Read(&part); }) < 2);
  REQUIRE(part.points.size() == kPoints / 2 + 1);
  CHECK(part.points[0].qualifier.bits == Millis(1));
  CHECK(part.points[2].qualifier.bits == Millis(4));
  CHECK(part.points[2].bits == 2);
  CHECK(part.gone.size() == kPoints / 2 - 1);
}

TEST_CASE("dropping repeated entries of a row does not change its content") {
  std::mt19937 random(7);
  for (int round = 0; round < 8; ++round) {
    CAPTURE(round);
    RowMemory rows;
    RowHourMemory* row = rows.FindOrMake(1, 0);
    points::RowPart model;
    const uint32_t raw_from = round % 2 == 0 ? UINT32_MAX : random() % 20'000;
    for (uint32_t i = 1; i <= 30'000; ++i) {
      if (i == raw_from) row->SetFlag(RowHourMemory::kRaw);
      const uint32_t qualifier = Millis(random() % 40) | random() % 2;
      const auto same = [&](const points::PartPoint& p) { return p.qualifier.bits == qualifier; };
      const uint32_t what = random() % 10'000;
      rows.Begin(row);
      if (round % 4 >= 2 && what == 0) {
        rows.WriteClear(row, i);
        model = points::RowPart();
        model.cleared = true;
      } else if (round % 4 >= 2 && what < 500) {
        rows.WriteDelete(row, i, qualifier);
        std::erase_if(model.points, same);
        if (!model.cleared) model.gone.push_back(codec::Qualifier{qualifier}.Encode());
      } else {
        rows.Write(row, i, qualifier, what % 100, points::RowForm::kAuto);
        std::erase_if(model.points, same);
        model.points.push_back({{qualifier}, i >= raw_from ? i : 0, what % 100});
      }
      rows.Publish(row);
      if (i % 1000 != 0) continue;
      points::RowPart expected = model;
      expected.form = points::RowForm::kAuto;
      points::Normalize(&expected);
      points::RowPart part;
      row->Read(&part);
      REQUIRE(part.cleared == expected.cleared);
      REQUIRE(part.gone == expected.gone);
      REQUIRE(part.points.size() == expected.points.size());
      for (size_t k = 0; k < part.points.size(); ++k) {
        REQUIRE(part.points[k].qualifier == expected.points[k].qualifier);
        REQUIRE(part.points[k].bits == expected.points[k].bits);
        REQUIRE(part.points[k].sequence == expected.points[k].sequence);
      }
    }
    CHECK(row->entries() < 6000);
  }
}

TEST_CASE("a reader without a lock sees every write while repeated entries are dropped") {
  RowMemory rows;
  RowHourMemory* row = rows.FindOrMake(1, 0);
  constexpr uint32_t kWrites = 200'000;
  std::atomic<uint32_t> written{0};
  std::thread writer([&] {
    for (uint32_t i = 1; i <= kWrites; ++i) {
      rows.Put(row, i, Millis(i % 3) | 3, i, points::RowForm::kAuto);
      written.store(i, std::memory_order_release);
    }
  });
  for (uint32_t before = 0; before < kWrites;) {
    before = written.load(std::memory_order_acquire);
    points::RowPart part;
    row->Read(&part);
    uint64_t newest = 0;
    for (const points::PartPoint& point : part.points) {
      CHECK(point.bits % 3 == point.offset_ms());
      newest = std::max(newest, point.bits);
    }
    REQUIRE(newest >= before);
  }
  writer.join();
}

}  // namespace
}  // namespace hg::engine
