#pragma once
// The row-hours of one generation in memory (engine.md §4): per row the history of its points, in
// order of arrival. A history is only ever appended to, so readers need no lock: they see a prefix
// of it.

#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "storage/points/arena.h"
#include "storage/points/part.h"

namespace hg::points {

/// One series' hour. Made and changed by the writer only; readers use the members named so.
class RowHourMemory {
 public:
  enum Flag : uint8_t {
    kRaw = 1,       // this generation's cells of the row touch its points: read both together
    kRawPoint = 2,  // among them cells named like a single point
  };

  // Readers, any thread.
  [[nodiscard]] uint32_t series() const { return series_; }
  [[nodiscard]] uint32_t base() const { return base_; }
  /// The row of this series made before this one, of any base.
  [[nodiscard]] const RowHourMemory* older() const { return older_; }
  [[nodiscard]] uint8_t flags() const { return flags_.load(std::memory_order_acquire); }
  /// The part that the history means; raw stays empty. `part` comes empty.
  void Read(Part* part) const;

  // The writer.
  [[nodiscard]] uint64_t last_sequence() const { return last_sequence_; }
  void SetFlag(uint8_t flags) { flags_.fetch_or(flags, std::memory_order_release); }

 private:
  friend class RowMemory;
  static constexpr uint32_t kFirstSlots = 4;
  static constexpr uint32_t kSlotsMax = 64;
  struct Chunk {
    Chunk* next;
    uint32_t slots;
    uint32_t reserved;
    // then: uint64_t bits[slots], uint32_t op[slots]
    [[nodiscard]] uint64_t* bits() { return reinterpret_cast<uint64_t*>(this + 1); }
    [[nodiscard]] uint32_t* ops() { return reinterpret_cast<uint32_t*>(bits() + slots); }
    static size_t Bytes(uint32_t slots) { return sizeof(Chunk) + size_t{slots} * 12; }
  };

  std::atomic<uint32_t> count_{0};  // history entries that readers may see
  uint32_t base_;
  uint32_t series_;
  uint32_t last_used_ = 0;     // slots used in last_
  uint32_t written_ = 0;       // history entries; count_ follows
  uint32_t record_start_ = 0;  // the first entry of the record last_sequence_
  std::atomic<uint8_t> flags_{0};
  std::atomic<uint8_t> form_{0};
  uint16_t depth_ = 0;  // rows of the series made before; saturates
  uint32_t last_offset_ms_ = 0;
  Chunk* last_;
  uint64_t last_sequence_ = 0;
  RowHourMemory* older_;
  Chunk* first_;
};

/// One writer at a time; readers use Newest only.
class RowMemory {
 public:
  /// The row made last of a series, or null: the head of its rows in this generation.
  [[nodiscard]] const RowHourMemory* Newest(uint32_t series) const { return heads_.Get(series); }

  /// The row, or null.
  [[nodiscard]] RowHourMemory* Find(uint32_t series, uint32_t base) {
    RowHourMemory* head = heads_.Get(series);
    return head == nullptr || head->base_ == base ? head : FindOlder(head, base);
  }
  RowHourMemory* FindOrMake(uint32_t series, uint32_t base) {
    RowHourMemory* row = Find(series, base);
    return row != nullptr ? row : Make(series, base);
  }

  /// One point of the record `sequence`, seen at once. Of one record's points at one instant the
  /// smaller qualifier is the newer (engine.md §3).
  void Put(RowHourMemory* row, uint64_t sequence, uint32_t qualifier, uint64_t bits, RowForm form) {
    Write(row, sequence, qualifier, bits, form);
    Publish(row);
  }
  // The same for several changes that become visible together by Publish.
  void Write(RowHourMemory* row, uint64_t sequence, uint32_t qualifier, uint64_t bits,
             RowForm form);
  /// Deletes a qualifier that CanonicalQualifier accepts, here and in older parts.
  void WriteDelete(RowHourMemory* row, uint64_t sequence, uint32_t qualifier);
  /// Deletes all points, here and in older parts.
  void WriteClear(RowHourMemory* row, uint64_t sequence);
  void Publish(RowHourMemory* row) { row->count_.store(row->written_, std::memory_order_release); }

  void PrefetchHead(uint32_t series) const { heads_.Prefetch(series); }
  void PrefetchRow(uint32_t series) const {
    if (const RowHourMemory* head = heads_.Get(series)) {
      __builtin_prefetch(head);
      __builtin_prefetch(reinterpret_cast<const char*>(head) + 64);
    }
  }
  void PrefetchSlot(uint32_t series) const {
    if (const RowHourMemory* head = heads_.Get(series)) {
      const auto* bits = head->last_->bits() + head->last_used_;
      __builtin_prefetch(bits, 1);
      __builtin_prefetch(head->last_->ops() + head->last_used_, 1);
    }
  }

  /// Series that have rows here, in order of their first row. The writer's, or anybody's once
  /// nothing is written.
  [[nodiscard]] const std::vector<uint32_t>& series() const { return series_; }
  [[nodiscard]] size_t bytes() const {
    return arena_.bytes() + heads_.bytes() + extra_bytes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] uint64_t points() const { return points_.load(std::memory_order_relaxed); }

 private:
  RowHourMemory* FindOlder(RowHourMemory* head, uint32_t base);
  RowHourMemory* Make(uint32_t series, uint32_t base);
  void Push(RowHourMemory* row, uint32_t op, uint64_t bits);
  void GrowLast(RowHourMemory* row);
  void RepeatSmaller(RowHourMemory* row, uint32_t qualifier);

  SlotTable<RowHourMemory> heads_;
  Arena arena_;
  std::vector<uint32_t> series_;
  // Rows of series with more than kWalkMax of them; the others are found by walking.
  std::unordered_map<uint64_t, RowHourMemory*> by_base_;
  std::atomic<size_t> extra_bytes_{0};
  std::atomic<uint64_t> points_{0};
};

}  // namespace hg::points
