#pragma once
// The row-hours of one generation in memory (engine.md §4): per row the history of its points, in
// order of arrival. The last entries stand in the tail, up to eight; a full tail is encoded as a
// run and used again. Runs stand one after the other in pages, so that reading a row walks through
// few places of memory. Within a run points may stand in order of time instead, where nobody can
// tell the difference.
//
// Readers take no lock. An entry that is added becomes visible by the tail's count. What moves
// entries (a run is made, the tail grows, several changes become visible together) is bracketed by
// an odd version: a reader that sees one, or another version afterwards, reads again. There is one
// writer, so nothing else is needed; slots are atomics, runs never change, and no memory is given
// back before the generation goes.

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "storage/engine/arena.h"
#include "storage/points/part.h"
#include "storage/points/row_codec.h"
#include "storage/points/run_codec.h"

namespace hg::points {

/// One series' hour. Made and changed by the writer only; readers use the members named so.
class RowHourMemory {
 public:
  enum Flag : uint8_t {
    // This generation's cells of the row touch its points: read both together. Set before the first
    // change of the record that brings the cells; from then on the history knows its records.
    kRaw = 1,
    kRawPoint = 2,  // among them cells named like a single point
  };

  // Readers, any thread.
  [[nodiscard]] uint32_t series() const { return series_; }
  [[nodiscard]] uint32_t base() const { return base_; }
  /// The row of this series made before this one, of any base.
  [[nodiscard]] const RowHourMemory* older() const { return older_; }
  [[nodiscard]] uint8_t flags() const { return flags_.load(std::memory_order_acquire); }
  /// The part that the history means; raw stays empty. `part` comes empty. `generation`: of the
  /// points written before the row had raw cells; the others have their record's.
  void Read(Part* part, uint32_t generation = 0) const;
  /// Appends the points in order of arrival, if the history is nothing but puts. False: it is
  /// another one, and the columns are good for Clear only. Tells the form.
  bool AppendTo(RowColumns* columns, RowForm* form) const;
  /// Has the processor fetch what AppendTo reads: all rows at once, where one after the other would
  /// wait for memory at each run.
  static void Prefetch(std::span<const RowHourMemory* const> rows);

  // The writer.
  [[nodiscard]] uint64_t last_sequence() const { return last_sequence_; }
  void SetFlag(uint8_t flags) { flags_.fetch_or(flags, std::memory_order_release); }

 private:
  friend class RowMemory;
  // Eight: a row of few points, the most common one, stays small; a run of eight takes 15 to 25
  // bytes.
  static constexpr uint8_t kSlots = kRunEntries;

  struct Page {
    const Page* older;
    uint16_t capacity;  // of bytes
    uint16_t used;      // once there is a newer page
    char bytes[];
  };
  // Entries of a moment, copied.
  struct Snapshot {
    const Page* pages = nullptr;
    uint32_t runs = 0;
    uint16_t page_used = 0;
    uint8_t form = 0;
    uint8_t count = 0;
    uint64_t bits[kSlots];
    uint32_t ops[kSlots];
  };
  void Copy(Snapshot* to) const;
  /// History entries.
  [[nodiscard]] uint32_t written() const {
    return runs_.load(std::memory_order_relaxed) * kSlots + tail_used_;
  }
  void LastRuns(std::span<const char*> runs) const;
  /// Calls visit(first byte, end) for what is used of each page, oldest first.
  template <typename Visit>
  static void VisitPages(const Snapshot& now, Visit&& visit);
  /// Entries of the runs in order of arrival, but for what EncodeRun was allowed to sort.
  template <typename Visit>
  static void VisitRuns(const Snapshot& now, Visit&& visit);

  std::atomic<const Page*> pages_{nullptr};  // newest
  RowHourMemory* older_ = nullptr;
  uint64_t last_sequence_ = 0;
  uint32_t series_ = 0;
  uint32_t base_ = 0;
  std::atomic<uint32_t> version_{0};
  std::atomic<uint32_t> runs_{0};
  uint32_t record_start_ = 0;  // the first entry of the record last_sequence_
  uint32_t last_offset_ms_ = 0;
  std::atomic<uint8_t> tail_count_{0};  // entries of the tail that readers may see
  uint8_t tail_used_ = 0;               // tail_count_ follows
  uint8_t depth_ = 0;                   // rows of the series made before; saturates
  std::atomic<uint8_t> flags_{0};
  std::atomic<uint8_t> form_{0};
  std::atomic<uint16_t> page_used_{0};  // bytes of the newest page
  std::atomic<uint64_t> bits_[kSlots];
  std::atomic<uint32_t> ops_[kSlots];
};

/// Readers use Newest only. Series are divided among lanes: one writer of a lane at a time.
class RowMemory {
 public:
  static constexpr size_t kLanes = 2;
  [[nodiscard]] static size_t LaneOf(uint32_t series) {
    return SlotTable<RowHourMemory>::BlockOf(series) % kLanes;
  }

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
    Add(row, sequence, qualifier, bits, form);
    row->tail_count_.store(row->tail_used_, std::memory_order_release);
  }
  // Several changes that become visible together: Begin, changes, Publish.
  void Begin(RowHourMemory* row);
  void Write(RowHourMemory* row, uint64_t sequence, uint32_t qualifier, uint64_t bits,
             RowForm form) {
    Add(row, sequence, qualifier, bits, form);
  }
  /// Deletes a qualifier that CanonicalQualifier accepts, here and in older parts.
  void WriteDelete(RowHourMemory* row, uint64_t sequence, uint32_t qualifier);
  /// Deletes all points, here and in older parts.
  void WriteClear(RowHourMemory* row, uint64_t sequence);
  void Publish(RowHourMemory* row);

  void PrefetchHead(uint32_t series) const { heads_.Prefetch(series); }
  void PrefetchRow(uint32_t series) const {
    if (const RowHourMemory* head = heads_.Get(series)) {
      const char* bytes = reinterpret_cast<const char*>(head);
      __builtin_prefetch(bytes, 1);
      __builtin_prefetch(bytes + 64, 1);
      __builtin_prefetch(bytes + 128, 1);
    }
  }

  /// Calls visit(series) for each that has rows here, rising.
  template <typename Visit>
  void ForEachSeries(Visit&& visit) const {
    heads_.ForEachSet(visit);
  }
  [[nodiscard]] size_t bytes() const {
    size_t bytes = heads_.bytes() + extra_bytes_.load(std::memory_order_relaxed);
    for (const Lane& lane : lanes_) bytes += lane.arena.bytes();
    return bytes;
  }
  [[nodiscard]] uint64_t points() const {
    uint64_t points = 0;
    for (const Lane& lane : lanes_) points += lane.points.load(std::memory_order_relaxed);
    return points;
  }

 private:
  RowHourMemory* FindOlder(RowHourMemory* head, uint32_t base);
  RowHourMemory* Make(uint32_t series, uint32_t base);
  void Add(RowHourMemory* row, uint64_t sequence, uint32_t qualifier, uint64_t bits, RowForm form);
  void Push(RowHourMemory* row, uint32_t op, uint64_t bits);
  void MakeRoom(RowHourMemory* row);
  char* RoomForRun(RowHourMemory* row, size_t bytes);
  void StartRecord(RowHourMemory* row, uint64_t sequence);
  void RepeatSmaller(RowHourMemory* row, uint32_t qualifier);

  /// What a writer has for itself.
  struct alignas(64) Lane {
    Arena arena;
    // Rows of series with more than kWalkMax of them; the others are found by walking.
    std::unordered_map<uint64_t, RowHourMemory*> by_base;
    std::atomic<uint64_t> points{0};
  };
  [[nodiscard]] Lane& LaneFor(uint32_t series) { return lanes_[LaneOf(series)]; }

  SlotTable<RowHourMemory> heads_;
  std::array<Lane, kLanes> lanes_;
  std::atomic<size_t> extra_bytes_{0};
};

}  // namespace hg::points
