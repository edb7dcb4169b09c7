#pragma once
// Raw bytes of metric and tags → series number: no lock, no allocation, nothing decoded (design.md
// §2). Metric and tags are looked up each by itself, and then what the two mean together: series
// that share their tags, as the metrics of a host do, keep them once, and another spelling of known
// tags is known for all of them. The stored bytes are compared after the hash, so a collision,
// crafted or not, cannot mix series up.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/short_bytes.h"
#include "storage/model/point_sink.h"
#include "storage/points/points.h"

namespace hg::tsd {

/// A series by its ids: what the halves of its spelling stand for, too.
struct SeriesIds {
  Bytes metric;  // the metric's id
  Bytes pairs;   // ids of keys and values as in the TSUID
};

/// A spelling that is looked for or learnt beside others.
struct SpelledSeries {
  bool known = false;
  SeriesNumber number = 0;
  SeriesIds ids;  // while it is unknown
};

/// Whether their tags are the same bytes of one dialect.
inline bool SameTags(const Spelling& a, const Spelling& b) {
  return a.tags.size() == b.tags.size() && a.dialect == b.dialect &&
         (a.tags.data() == b.tags.data() || SameBytes(a.tags.data(), b.tags.data(), a.tags.size()));
}

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

  /// How many are unknown; found[i] tells what is known of points[i]: of an unknown one the ids of
  /// those halves that are known from other series, "" for another.
  size_t FindEach(std::span<const SpelledPoint> points, SpelledSeries* found) const;
  /// The ids of the halves that are known from other series; "" = unknown.
  [[nodiscard]] SeriesIds FindHalves(const Spelling& spelling) const;

  /// `generation`: what generation() said before the names were resolved; if Forget came between,
  /// the spelling stays unknown.
  void Remember(const Spelling& spelling, const SeriesIds& ids, SeriesNumber number,
                uint32_t generation);
  /// The same of many, those with `known` left out; but their series only if that is known by other
  /// spellings of the same ids. They become `known` then.
  void RememberHalves(std::span<const SpelledPoint> points, SpelledSeries* series,
                      uint32_t generation);
  /// Remember of many, those with `known` left out.
  void RememberAll(std::span<const SpelledPoint> points, const SpelledSeries* series,
                   uint32_t generation);
  [[nodiscard]] uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Makes every spelling unknown again, because names changed.
  void Forget();

  struct Stats {
    uint64_t spellings = 0;
    uint64_t bytes = 0;  // all that is allocated
  };
  [[nodiscard]] Stats stats() const;

 private:
  struct Text;
  struct TextSlot;
  struct PairSlot;
  template <typename Slot>
  struct Table;
  struct View;
  class Meanings;
  struct Space;
  struct Half;
  struct Window;
  class Stay;
  struct Pair {
    uint32_t metric, tags;  // numbers of what they mean
    uint64_t hash;
  };

  [[nodiscard]] uint64_t Hash(Dialect dialect, std::string_view text) const;
  [[nodiscard]] uint64_t HashPair(uint32_t metric, uint32_t tags) const;
  // Null: it is not there.
  static const Text* FindText(const Table<TextSlot>& table, uint64_t hash, Dialect dialect,
                              std::string_view text);
  static PairSlot* FindPair(const Table<PairSlot>& table, uint64_t hash, uint32_t metric,
                            uint32_t tags);

  bool FindWindow(const View& view, std::span<const SpelledPoint> points, Window* found) const;

  // With mutex_.
  bool Ready(uint32_t generation);
  void NumberHalves(std::span<const SpelledPoint> points, const SpelledSeries* series, Pair* pairs);
  void RememberPair(const Pair& pair, SeriesNumber number);
  char* Take(size_t bytes);
  template <typename Slot, typename HashOf>
  void MakeRoom(std::shared_ptr<Table<Slot>> View::*table, const HashOf& hash_of);
  uint32_t NumberOf(const Half& half, uint64_t hash, Dialect dialect, std::string_view text,
                    ByteView ids);
  void StartAnew();
  void Retire(std::shared_ptr<const void> gone, size_t bytes);
  /// False: readers may still be in something.
  bool FreeRetired();

  // Constant.
  const uint64_t secret_[3];
  const size_t bytes_max_;

  // Self-synchronised.
  std::atomic<const View*> current_{nullptr};
  mutable std::atomic<uint32_t> readers_{0};  // inside current_, or what was it when they came
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint64_t> spellings_{0}, bytes_{0};

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::shared_ptr<Space> space_;
  std::vector<std::shared_ptr<const void>> retired_;  // until they are seen without readers
  size_t retired_bytes_ = 0;
};

}  // namespace hg::tsd
