#pragma once
// The row-hours of one memtable. Each row keeps the history of its points in order of arrival. The
// tail of a row holds up to eight recent entries. A full tail is encoded as a compressed chunk and
// then reused. Chunks are stored one after the other in pages, so that a reader of a row accesses
// few places in memory. Within a chunk, points may be sorted by time if readers cannot notice the
// difference. A row with many entries is compacted in memory: the writer keeps only the last entry
// of each operation on each qualifier. Therefore, repeated writes of the same points do not make
// reads slower and slower.
//
// Readers of a row take no lock. The writer publishes an entry by raising the entry count of the
// tail. The version of a row is odd while the writer encodes the tail, compacts the row, or makes
// several changes that become visible together. A reader reads the row again if the version is odd,
// or if the version changes during the read. This protocol has three rules. Only one writer at a
// time changes a row. The slots of the tail are atomics, and chunks never change. All memory,
// including chunks that a compaction replaced, is freed only with the memtable.

#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/base/fair_shared_mutex.h"
#include "storage/base/keyed_hash.h"
#include "storage/engine/arena.h"
#include "storage/points/chunk_codec.h"
#include "storage/points/row_codec.h"
#include "storage/points/row_part.h"

namespace hg::engine {

/// The points of one series in one hour. RowMemory owns this object, and only the writer changes
/// it. Readers may use only the functions that are marked for readers.
class RowHourMemory {
 public:
  enum Flag : uint8_t {
    // The memtable also has cells that affect the points of this row, so readers must read the
    // cells and the points together. If a log record puts such cells, the writer sets the flag
    // before it applies any change of this record. From then on, the history of the row also
    // contains the sequence number of each log record.
    kRaw = 1,
    kRawPoint = 2,  // some of the raw cells have the qualifier of a single point
    kCleared = 4,   // the history deletes the whole row in older memtables and in files
  };

  // The following functions are for readers on any thread.
  [[nodiscard]] uint32_t series() const { return series_; }
  [[nodiscard]] uint32_t base() const { return base_; }
  /// Returns the row of this series that was created before this row in the memtable. Its base time
  /// may be earlier or later. Returns null if there is none.
  [[nodiscard]] const RowHourMemory* older() const { return older_; }
  [[nodiscard]] uint8_t flags() const { return flags_.load(std::memory_order_acquire); }
  /// Fills the empty `row_part` from the history; `row_part->raw` stays empty. Points that were
  /// written before the row had raw cells get `sequence`. Later points have the sequence number of
  /// their log record.
  void Read(points::RowPart* row_part, uint64_t sequence = 0) const;
  /// If the history consists only of puts, appends the points in order of arrival, sets `form` and
  /// returns true. Otherwise returns false. After a return of false, the content of `columns` is
  /// undefined, and the caller may only clear `columns`.
  bool AppendTo(points::RowColumns* columns, points::RowForm* form) const;
  /// Returns the approximate number of history entries that Read and AppendTo decode.
  [[nodiscard]] uint64_t entries() const {
    return uint64_t{chunks_.load(std::memory_order_relaxed)} * kSlots +
           tail_count_.load(std::memory_order_relaxed);
  }
  /// Prefetches the memory that AppendTo reads, for all rows at once. Without the prefetch, each
  /// row would wait for one cache miss per page.
  static void Prefetch(std::span<const RowHourMemory* const> rows);

  // The following functions are for the writer only.
  [[nodiscard]] uint64_t last_sequence() const { return last_sequence_; }
  void SetFlag(uint8_t flags) { flags_.fetch_or(flags, std::memory_order_release); }

 private:
  friend class RowMemory;
  // With eight entries, a row with few points, which is the most common case, stays small. An
  // encoded chunk of eight points takes 15 to 25 bytes.
  static constexpr uint8_t kSlots = points::kChunkEntries;
  // Limits for the number of chunks, as base-2 logarithms. A row with fewer chunks than the minimum
  // (4096 entries, more than one point a second) is not compacted. A row with more chunks than the
  // maximum (262,144 entries) is not compacted either, because the compaction would hold the write
  // lock for too long.
  static constexpr uint8_t kCompactLogMin = 9, kCompactLogMax = 15;
  // Number of entries from which a row is a long row. A row of one point per millisecond has fewer.
  static constexpr uint32_t kLongRowEntries = 1 << 22;

  struct Page {
    const Page* older;
    uint16_t capacity;  // number of available bytes
    uint16_t used;      // number of used bytes; set when a newer page is added
    char bytes[];
  };
  // The encoded chunks of a row.
  struct Chunks {
    const Page* newest = nullptr;
    uint32_t count = 0;
    uint16_t newest_used = 0;  // number of used bytes of the newest page
  };
  struct Entry {
    uint32_t op;
    uint64_t bits;
  };
  // A copy of the state of a row at one moment.
  struct Snapshot {
    Chunks chunks;
    uint8_t form = 0;
    uint8_t count = 0;
    uint64_t bits[kSlots];
    uint32_t ops[kSlots];
  };
  void Copy(Snapshot* to) const;
  /// Returns the number of history entries.
  [[nodiscard]] uint32_t written() const {
    return chunks_.load(std::memory_order_relaxed) * kSlots + tail_used_;
  }
  void LastChunks(std::span<const char*> chunks) const;
  /// Calls visit(begin, end) for the used bytes of each page, the oldest page first.
  template <typename Visit>
  static void VisitPages(const Chunks& chunks, Visit&& visit);
  /// Visits the chunks in order of arrival. The entries of one chunk are visited in order of
  /// arrival or sorted by time.
  template <typename Visit>
  static void VisitChunks(const Chunks& chunks, Visit&& visit);

  std::atomic<const Page*> pages_{nullptr};  // the newest page
  RowHourMemory* older_ = nullptr;
  uint64_t last_sequence_ = 0;
  uint32_t series_ = 0;
  uint32_t base_ = 0;
  std::atomic<uint32_t> version_{0};
  std::atomic<uint32_t> chunks_{0};
  uint32_t record_start_ = 0;  // index of the first entry of the record last_sequence_
  uint32_t last_offset_ms_ = 0;
  std::atomic<uint8_t> tail_count_{0};  // number of readable entries that are not in a chunk yet
  uint8_t tail_used_ = 0;  // entries written to the tail; tail_count_ gets this number later
  uint8_t depth_ = 0;      // number of older rows of the series; 255 = 255 or more
  std::atomic<uint8_t> flags_{0};
  std::atomic<uint8_t> form_{0};
  uint8_t compact_log_ = kCompactLogMin;  // the row is compacted when it has 2^compact_log_ chunks
  std::atomic<uint16_t> page_used_{0};    // number of used bytes of the newest page
  std::atomic<uint64_t> bits_[kSlots];
  std::atomic<uint32_t> ops_[kSlots];
};

/// The rows of one memtable (RowHourMemory). Any thread may call the const functions. Only a writer
/// may call the others. Series are divided into shards, and each shard has one writer at a time.
class RowMemory {
 public:
  static constexpr size_t kShards = 2;
  [[nodiscard]] static size_t ShardOf(uint32_t series) {
    return SlotTable<RowHourMemory>::BlockOf(series) % kShards;
  }

  /// Returns the newest row of a series, or null if the memtable has no row of the series. The
  /// function older() of a row returns the next older row.
  [[nodiscard]] const RowHourMemory* Newest(uint32_t series) const { return heads_.Get(series); }

  /// Returns the row of the series with this base time, or null if the row is not in this memtable.
  /// Only writers call this function.
  [[nodiscard]] RowHourMemory* Find(uint32_t series, uint32_t base) {
    RowHourMemory* head = heads_.Get(series);
    return head == nullptr || head->base_ == base ? head : FindOlder(head, base);
  }
  /// Returns the same row as Find. Any thread may call this function. It takes a lock only if the
  /// series has many rows in this memtable.
  [[nodiscard]] const RowHourMemory* FindToRead(uint32_t series, uint32_t base) const;
  RowHourMemory* FindOrMake(uint32_t series, uint32_t base) {
    RowHourMemory* row = Find(series, base);
    return row != nullptr ? row : Make(series, base);
  }

  /// Adds one point of the log record with the number `sequence`. Readers see the point at once. If
  /// one record has several points at the same instant, the point that is added later counts as
  /// newer. Among single cells (RowForm::kSingle), the point with the smaller qualifier counts as
  /// newer.
  void Put(RowHourMemory* row, uint64_t sequence, uint32_t qualifier, uint64_t bits,
           points::RowForm form) {
    Add(row, sequence, qualifier, bits, form);
    row->tail_count_.store(row->tail_used_, std::memory_order_release);
  }
  // To make several changes visible together, call Begin, make the changes, and call Publish.
  void Begin(RowHourMemory* row);
  void Write(RowHourMemory* row, uint64_t sequence, uint32_t qualifier, uint64_t bits,
             points::RowForm form) {
    Add(row, sequence, qualifier, bits, form);
  }
  /// Deletes the points with a canonical qualifier (CanonicalQualifier), in this memtable and in
  /// older RowParts.
  void WriteDelete(RowHourMemory* row, uint64_t sequence, uint32_t qualifier);
  /// Deletes all points of the row, in this memtable and in older RowParts.
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

  /// Calls visit(series) for each series that has rows, in ascending order of series numbers.
  template <typename Visit>
  void ForEachSeries(Visit&& visit) const {
    heads_.ForEachSet(visit);
  }
  [[nodiscard]] size_t bytes() const {
    size_t bytes = heads_.bytes() + extra_bytes_.load(std::memory_order_relaxed);
    for (const Shard& shard : shards_) bytes += shard.arena.bytes();
    return bytes;
  }
  /// Returns whether a row has so many entries that the memtable should be flushed. While a row is
  /// read for a flush, each entry needs about 50 bytes, but the row's chunks may need only two
  /// bytes per entry. So the size of the memtable does not limit the memory of its flush.
  [[nodiscard]] bool has_long_row() const { return long_row_.load(std::memory_order_relaxed); }
  [[nodiscard]] uint64_t points() const {
    uint64_t points = 0;
    for (const Shard& shard : shards_) points += shard.points.load(std::memory_order_relaxed);
    return points;
  }

 private:
  // Each row is in one map. With many small maps, a map that grows moves only few rows while its
  // writer holds the write lock. Clients choose base times, so the hash is keyed.
  using RowMap = boost::unordered_flat_map<uint64_t, RowHourMemory*, keyed_hash::Hash>;
  using RowMaps = std::array<RowMap, 256>;

  /// The state of the writer of one shard. Each shard has one writer at a time.
  struct alignas(64) Shard {
    Arena arena;
    // The rows of series with more than kWalkMax rows, or null if the shard has no such series. All
    // other rows are found by following older_. Only the writer changes the maps, and it locks
    // by_base_mutex for each change. Readers lock the mutex, too. The writer reads without the
    // mutex.
    std::unique_ptr<RowMaps> by_base;
    mutable FairSharedMutex by_base_mutex;
    std::atomic<uint64_t> points{0};
  };

  RowHourMemory* FindOlder(RowHourMemory* head, uint32_t base) const;
  RowHourMemory* Make(uint32_t series, uint32_t base);
  void AddToMap(Shard& shard, RowHourMemory* row);
  void Add(RowHourMemory* row, uint64_t sequence, uint32_t qualifier, uint64_t bits,
           points::RowForm form);
  void Push(RowHourMemory* row, uint32_t op, uint64_t bits);
  void MakeRoom(RowHourMemory* row);
  void Compact(RowHourMemory* row, RowHourMemory::Chunks* chunks,
               std::vector<RowHourMemory::Entry>* rest);
  static void AddChunk(Shard& shard, RowHourMemory::Chunks* chunks,
                       const points::ChunkEntries& entries);
  static char* RoomForChunk(Shard& shard, RowHourMemory::Chunks* chunks, size_t bytes);
  void StartRecord(RowHourMemory* row, uint64_t sequence);
  void RepeatSmaller(RowHourMemory* row, uint32_t qualifier);

  [[nodiscard]] Shard& ShardFor(uint32_t series) { return shards_[ShardOf(series)]; }
  [[nodiscard]] const Shard& ShardFor(uint32_t series) const { return shards_[ShardOf(series)]; }

  SlotTable<RowHourMemory> heads_;
  std::array<Shard, kShards> shards_;
  std::atomic<size_t> extra_bytes_{0};
  std::atomic<bool> long_row_{false};
};

}  // namespace hg::engine
