// Row-hours in memory: the cost of one more point.

#include "storage/engine/row_memory.h"

#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>
#include <random>
#include <set>
#include <utility>

#include "storage/codec/qualifier.h"

namespace {
std::atomic<size_t> allocations{0};
}  // namespace

void* operator new(size_t bytes) {
  ++allocations;
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

namespace hg::points {
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
      rows.Put(row, 1 + i / 500, Millis(offset), i, RowForm::kAuto);
    }
    const size_t before = allocations;
    for (uint32_t i = 0; i < 512; ++i) {
      rows.Put(row, 1000, Millis(1'000'000 - i), i, RowForm::kAuto);
    }
    CHECK(allocations - before <= 64);  // of the arena, and those at the start
    Part part;
    row->Read(&part);
    CHECK(part.points.size() == kBefore + 512);
  }
}

TEST_CASE(
    "of one record's points at an instant the smaller qualifier is the newer, over runs too") {
  // The same time with two widths of value, with a full tail in between.
  for (uint32_t between = 0; between < 16; ++between) {
    for (uint32_t before = 0; before < 20; ++before) {
      CAPTURE(between);
      CAPTURE(before);
      RowMemory rows;
      RowHourMemory* row = rows.FindOrMake(1, 0);
      for (uint32_t i = 0; i < before; ++i) rows.Put(row, 1, Millis(i), 0, RowForm::kAuto);
      rows.Put(row, 2, Millis(5000), 7, RowForm::kAuto);
      for (uint32_t i = 0; i < between; ++i) {
        rows.Put(row, 2, Millis(9000 - i), 0, RowForm::kAuto);
      }
      rows.Put(row, 2, Millis(5000) | 1, 8, RowForm::kAuto);
      Part part;
      row->Read(&part);
      REQUIRE(part.points.size() == before + between + 2);
      // The newest point of a time comes last. The first two after `before` are those of 5000.
      REQUIRE(part.points[before + 1].qualifier.bits == Millis(5000));
      REQUIRE(part.points[before + 1].bits == 7);
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

TEST_CASE("columns have the meaning of a history of puts, in whatever order they arrived") {
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
      rows.Put(row, i + 1, Millis(offset) | flags, bits, RowForm::kAuto);
    }
    if (deletes) {
      rows.Begin(row);
      rows.WriteDelete(row, count + 1, Millis(0));
      rows.Publish(row);
    }
    RowColumns columns;
    RowForm form = RowForm::kOne;
    const bool puts = row->AppendTo(&columns, &form);
    CHECK(puts == !deletes);
    if (!puts) continue;
    const bool sorted = columns.SortByTime();
    CHECK(sorted == (instants.size() == count));
    if (!sorted) continue;
    ++given;
    Part part;
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

}  // namespace
}  // namespace hg::points
