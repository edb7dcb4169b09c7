#pragma once
// The data structures of RawKeyTable. Only RawKeyTable uses this file.

#include <boost/unordered/unordered_flat_set.hpp>
#include <optional>

#include "storage/base/keyed_hash.h"
#include "tsd/ingest/raw_key_table.h"

namespace hg::tsd {

/// The maximum number of points whose raw series keys are looked up in the table, or added to it,
/// together. With this many points, prefetching helps, and their data fits into the first-level
/// cache of the CPU.
inline constexpr size_t kRawKeysTogether = 32;

/// The raw bytes of a metric or of tags, and the ids that these bytes stand for.
struct RawKeyTable::Text {
  uint32_t number;  // the number that Meanings assigned to `ids`; equal for texts with equal ids
  uint32_t size;    // length of the text in bytes
  uint16_t ids_size;
  Dialect dialect;
  char bytes[];  // the text, followed by the ids

  [[nodiscard]] std::string_view text() const { return {bytes, size}; }
  [[nodiscard]] ByteView ids() const { return {bytes + size, ids_size}; }
};

struct RawKeyTable::TextSlot {
  std::atomic<uint64_t> hash{0};
  // The text of the slot. A writer stores this member last when it fills the slot; null = the slot
  // is empty.
  std::atomic<const Text*> text{nullptr};

  [[nodiscard]] bool empty() const { return text.load(std::memory_order_relaxed) == nullptr; }
  void Set(const TextSlot& other) {
    hash.store(other.hash.load(std::memory_order_relaxed), std::memory_order_relaxed);
    text.store(other.text.load(std::memory_order_relaxed), std::memory_order_release);
  }
};

/// A slot for one series. A slot has only twelve bytes, because the table has one slot for each
/// series.
struct RawKeyTable::PairSlot {
  /// Text::number of the metric, and Text::number of the tags.
  std::atomic<uint32_t> metric{0}, tags{0};
  // The series number + 1. A writer stores this member last when it fills the slot; 0 = the slot is
  // empty.
  std::atomic<uint32_t> series{0};

  [[nodiscard]] bool empty() const { return series.load(std::memory_order_relaxed) == 0; }
  void Set(const PairSlot& other) {
    metric.store(other.metric.load(std::memory_order_relaxed), std::memory_order_relaxed);
    tags.store(other.tags.load(std::memory_order_relaxed), std::memory_order_relaxed);
    series.store(other.series.load(std::memory_order_relaxed), std::memory_order_release);
  }
};

/// A hash table with open addressing. Readers may run at the same time as the writer. When the
/// table is full, it grows by half of its size instead of doubling, to save memory, because there
/// is one slot for each series.
template <typename Slot>
struct RawKeyTable::Table {
  explicit Table(size_t slot_count)
      : size(slot_count), slots(std::make_unique<Slot[]>(slot_count)) {}

  [[nodiscard]] bool full() const { return (used + 1) * 10 > size * 7; }
  [[nodiscard]] size_t larger() const { return size + size / 2; }
  [[nodiscard]] size_t bytes() const { return size * sizeof(Slot); }
  [[nodiscard]] size_t First(uint64_t hash) const {
    return static_cast<size_t>(static_cast<unsigned __int128>(hash) * size >> 64);
  }
  [[nodiscard]] size_t After(size_t i) const { return i + 1 < size ? i + 1 : 0; }
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots[First(hash)]); }
  void Insert(uint64_t hash, const Slot& slot) {
    size_t i = First(hash);
    while (!slots[i].empty()) i = After(i);
    slots[i].Set(slot);
    ++used;
  }

  const size_t size;
  size_t used = 0;  // number of used slots; guarded by the mutex of the writer
  const std::unique_ptr<Slot[]> slots;
};

/// The tables that readers use. When a writer grows or clears a table, it replaces the View.
struct RawKeyTable::View {
  uint32_t generation;
  std::shared_ptr<Table<TextSlot>> metrics, tags;
  std::shared_ptr<Table<PairSlot>> pairs;
};

/// Assigns a number to each known sequence of ids. For each sequence, the object has a pointer to
/// one of the Text objects with these ids. Only the writer uses this object.
class RawKeyTable::Meanings {
 public:
  /// Returns the number that was assigned to this sequence of ids (Text::number), or nullopt if the
  /// sequence is unknown.
  [[nodiscard]] std::optional<uint32_t> Find(ByteView ids) const {
    const auto found = texts_.find(ids);
    return found == texts_.end() ? std::nullopt : std::optional<uint32_t>((*found)->number);
  }
  /// Adds a sequence of ids that is not known yet. text->number must be equal to next().
  void Add(const Text* text) { texts_.insert(text); }
  [[nodiscard]] uint32_t next() const { return static_cast<uint32_t>(texts_.size()); }
  /// Returns the approximate memory of the object in bytes.
  [[nodiscard]] size_t bytes() const { return texts_.bucket_count() * (sizeof(Text*) + 1); }

 private:
  static ByteView IdsOf(ByteView ids) { return ids; }
  static ByteView IdsOf(const Text* text) { return text->ids(); }
  struct Hash {
    using is_transparent = void;
    size_t operator()(const auto& of) const { return keyed_hash::Hash()(IdsOf(of)); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return IdsOf(a) == IdsOf(b); }
  };
  boost::unordered_flat_set<const Text*, Hash, Equal> texts_;
};

/// The part of the table that RawKeyTable::Forget clears.
struct RawKeyTable::Space {
  std::unique_ptr<const View> view;
  Meanings metrics, tags;
  std::vector<std::unique_ptr<char[]>> arenas;
  size_t arena_left = 0;
  char* arena_next = nullptr;
  size_t arena_bytes = 0;

  [[nodiscard]] size_t bytes() const {
    return arena_bytes + view->metrics->bytes() + view->tags->bytes() + view->pairs->bytes() +
           metrics.bytes() + tags.bytes();
  }
};

/// Selects one half of the raw series keys, which is the metric or the tags. The members are
/// pointers to the members of View and of Space that belong to this half.
struct RawKeyTable::Half {
  std::shared_ptr<Table<TextSlot>> View::*texts;
  Meanings Space::*meanings;
};

/// Counts one reader as long as the object exists. A reader creates this object before it loads the
/// view. If a writer publishes a new view and then finds that there are no readers, no reader can
/// have the old view, so the writer may free the old view. All of these operations are sequentially
/// consistent.
class RawKeyTable::Stay {
 public:
  explicit Stay(const RawKeyTable& table) : count_(table.readers_) { count_.fetch_add(1); }
  ~Stay() { count_.fetch_sub(1); }

 private:
  std::atomic<uint32_t>& count_;
};

}  // namespace hg::tsd
