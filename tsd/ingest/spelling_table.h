#pragma once
// Raw bytes of metric and tags → series number: one look-up per point, no lock, no allocation,
// nothing decoded (design.md §2). The stored bytes are compared after the hash, so a collision,
// crafted or not, cannot mix series up.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "storage/model/point_sink.h"
#include "storage/points/points.h"

namespace hg::tsd {

/// Thread-safe: any number of readers beside one writer at a time.
class SpellingTable {
 public:
  /// `key` makes the hash unpredictable. Where the spellings fill bytes_max, all are forgotten and
  /// learnt anew as they come: a few slow batches, where one spelling for which there is no room
  /// would make its batches slow for ever.
  SpellingTable(uint64_t key, size_t bytes_max);
  ~SpellingTable();

  /// numbers[i] = the series of points[i]; as long as `points`. False: at least one is unknown
  /// (numbers then hold nothing of use).
  bool FindAll(std::span<const SpelledPoint> points, SeriesNumber* numbers) const;

  /// `generation`: what generation() said before the names were resolved; if Forget came between,
  /// the spelling stays unknown.
  void Remember(const Spelling& spelling, SeriesNumber number, uint32_t generation);
  [[nodiscard]] uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Makes every spelling unknown again, because names changed. Memory stays for those that come
  /// back.
  void Forget();

  struct Stats {
    uint64_t spellings = 0;
    uint64_t bytes = 0;  // all that is allocated
  };
  [[nodiscard]] Stats stats() const;

 private:
  struct Record;
  struct Slot;
  struct Table;
  struct Space;

  [[nodiscard]] uint64_t Hash(const Spelling& spelling) const;
  /// The record of these bytes in `table`, or the empty slot where it belongs.
  [[nodiscard]] const Record* Lookup(const Table& table, uint64_t hash,
                                     const Spelling& spelling) const;
  Record* NewRecord(const Spelling& spelling);
  void AddTable(size_t slot_count);
  void Insert(Table* table, uint64_t hash, Record* record);
  void Grow();
  /// False: readers may still be where the last ones were.
  bool StartAnew();

  // Constant.
  const uint64_t secret_[3];
  const size_t bytes_max_;

  // Self-synchronised.
  std::atomic<const Table*> current_{nullptr};
  mutable std::atomic<uint32_t> readers_{0};  // inside current_, or what was it when they came
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint64_t> spellings_{0}, bytes_{0};

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::unique_ptr<Space> space_;
  std::unique_ptr<Space> retired_;  // the one before, until it is seen without readers
};

}  // namespace hg::tsd
