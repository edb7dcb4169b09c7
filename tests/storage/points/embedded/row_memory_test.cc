// Row-hours in memory: what one more point costs.

#include "storage/points/row_memory.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

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
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace hg::points {
namespace {

// The 4-byte form of an integer of one byte.
uint32_t Millis(uint32_t offset_ms) { return codec::kMillisMark | offset_ms << 6; }

// In the write lock no more than the last entries of a row are looked at: reading all of them takes
// an allocation for each point at least.
TEST_CASE("points that fall within a record cost the same, however long the row is") {
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
    CHECK(allocations - before <= 64);  // of the arena, and what stands at the start
    Part part;
    row->Read(&part);
    CHECK(part.points.size() == kBefore + 512);
  }
}

TEST_CASE(
    "of one record's points at an instant the smaller qualifier is the newer, over runs too") {
  // Same instant with two lengths of value; what stands between them reaches over a full tail.
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
      // Of an instant's points the newest comes last; the first two after `before` are those of
      // 5000.
      REQUIRE(part.points[before + 1].qualifier.bits == Millis(5000));
      REQUIRE(part.points[before + 1].bits == 7);
    }
  }
}

}  // namespace
}  // namespace hg::points
