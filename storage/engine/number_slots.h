#pragma once
// A hash table of numbers that identify objects. The caller stores the objects and compares them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/invariant.h"

namespace hg::engine {

/// A hash table with open addressing and linear probing. It has eight bytes per slot and is 47 to
/// 70 % full. The table grows by half instead of doubling, to save memory. Growing is cheap,
/// because slots are in the order of their hashes, so one pass through the old and the new table
/// suffices. Callers must lock the table: exclusively to change it, and at least shared to read it.
class NumberSlots {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Slot {
    uint32_t hash = 0;  // Find compares the hash first, and the object only if the hash is equal
    uint32_t number = kNone;
  };

  /// Returns the number that was added with `hash` and for which is(number) is true. Returns kNone
  /// if there is no such number.
  template <typename Is>
  [[nodiscard]] uint32_t Find(uint32_t hash, Is&& is) const {
    return FindIn(slots_, hash, is);
  }
  /// Searches a copy of the slots of a table as Find does.
  template <typename Is>
  [[nodiscard]] static uint32_t FindIn(std::span<const Slot> slots, uint32_t hash, Is&& is) {
    if (slots.empty()) return kNone;
    size_t i = First(hash, slots.size());
    for (size_t left = slots.size(); left > 0 && slots[i].number != kNone; --left) {
      if (slots[i].hash == hash && is(slots[i].number)) return slots[i].number;
      if (++i == slots.size()) i = 0;
    }
    return kNone;
  }
  /// Allocates memory, so that the next `more` calls of Add cannot fail. May throw std::bad_alloc.
  void Reserve(size_t more) {
    size_t slots = std::max(kFirstSlots, slots_.size());
    while (used_ + more > slots / 10 * 7) slots += slots / 2;
    if (slots > slots_.size()) Rehash(slots);
  }
  /// Adds a number for which Reserve has allocated memory. `number` must be below kNone and not yet
  /// added.
  void Add(uint32_t hash, uint32_t number) {
    INVARIANT(number != kNone && used_ < slots_.size());  // Find stops at a free slot
    Insert({hash, number});
    ++used_;
    INVARIANT(used_ < slots_.size());
  }
  /// Replaces `number`, which was added with `hash`, by the number `by`.
  void Replace(uint32_t hash, uint32_t number, uint32_t by) {
    size_t i = First(hash, slots_.size());
    while (slots_[i].number != number) {
      INVARIANT(slots_[i].number != kNone);
      i = After(i);
    }
    slots_[i].number = by;
  }
  void Prefetch(uint32_t hash) const { PrefetchIn(slots_, hash); }
  static void PrefetchIn(std::span<const Slot> slots, uint32_t hash) {
    if (!slots.empty()) __builtin_prefetch(&slots[First(hash, slots.size())]);
  }
  [[nodiscard]] std::span<const Slot> slots() const { return slots_; }
  [[nodiscard]] size_t bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  static constexpr size_t kFirstSlots = 1024;
  [[nodiscard]] static size_t First(uint32_t hash, size_t slots) {
    return uint64_t{hash} * slots >> 32;
  }
  [[nodiscard]] size_t After(size_t i) const { return i + 1 < slots_.size() ? i + 1 : 0; }
  void Insert(Slot slot) {
    size_t i = First(slot.hash, slots_.size());
    while (slots_[i].number != kNone) i = After(i);
    slots_[i] = slot;
  }
  void Rehash(size_t slots) {
    std::vector<Slot> old(slots);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kNone) Insert(slot);
    }
  }

  size_t used_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace hg::engine
