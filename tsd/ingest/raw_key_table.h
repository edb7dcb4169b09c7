#pragma once
// Maps raw series keys to series numbers without locks, allocations or decoding. It looks up the
// metric and the tags separately, and then the pair of their ids. So a text for tags that many
// series have in common, such as all metrics of a host, is stored only once. If a client sends
// known tags in a new text, one addition makes the new text known for all series with these tags.
// The table compares the stored bytes after the hash, so hash collisions cannot confuse series,
// even if a client constructs such collisions.

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

/// The ids of a series. The members correspond to the halves of its raw series key.
struct SeriesIds {
  Bytes metric;  // id of the metric
  Bytes pairs;   // ids of tag keys and values as in the TSUID
};

/// The ids of a raw series key in a batch, and whether its series is known.
struct KeyedSeries {
  bool known = false;
  SeriesNumber number = 0;
  SeriesIds ids;  // the ids of the known halves; set only while the series is unknown
};

/// Returns whether the two keys have the same tag bytes and the same dialect.
inline bool SameTags(const RawKey& a, const RawKey& b) {
  return a.tags.size() == b.tags.size() && a.dialect == b.dialect &&
         (a.tags.data() == b.tags.data() || SameBytes(a.tags.data(), b.tags.data(), a.tags.size()));
}

/// Thread-safe. Readers run concurrently with each other and with one writer at a time.
class RawKeyTable {
 public:
  /// `key` makes the hash unpredictable for clients. If the table exceeds bytes_max, it removes all
  /// its entries. A few batches are then slow until the table has learned their keys again. If the
  /// table rejected new keys instead, all batches with these keys would stay slow.
  RawKeyTable(uint64_t key, size_t bytes_max);
  ~RawKeyTable();

  /// Sets numbers[i] to the series of points[i]; `numbers` is as long as `points`. If at least one
  /// series is unknown, returns false, and `numbers` is undefined.
  bool FindAll(std::span<const KeyedPoint> points, SeriesNumber* numbers) const;

  /// Returns the number of unknown points and sets found[i] for points[i]. For an unknown point,
  /// found[i] has the ids of those halves that are known from other series, and "" for the others.
  size_t FindEach(std::span<const KeyedPoint> points, KeyedSeries* found) const;
  /// Returns the ids of both halves of a raw series key. An unknown half gets "".
  [[nodiscard]] SeriesIds FindHalves(const RawKey& raw_key) const;

  /// Remembers a raw series key. Call generation() before you resolve the names, and pass the
  /// result. If Forget was called in between, this function does nothing.
  void Remember(const RawKey& raw_key, const SeriesIds& ids, SeriesNumber number,
                uint32_t generation);
  /// Remembers the halves of all points that are not `known`. If a series is already known by
  /// another key with the same ids, the whole key is remembered, and `known` becomes true.
  void RememberHalves(std::span<const KeyedPoint> points, KeyedSeries* series, uint32_t generation);
  /// Calls Remember for all points that are not `known`.
  void RememberAll(std::span<const KeyedPoint> points, const KeyedSeries* series,
                   uint32_t generation);
  [[nodiscard]] uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Removes all keys. Call this function when names have changed.
  void Forget();

  struct Stats {
    uint64_t raw_keys = 0;
    uint64_t bytes = 0;  // size of all allocated memory
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
    uint32_t metric, tags;  // numbers of the ids of metric and tags (Text::number)
    uint64_t hash;
  };

  [[nodiscard]] uint64_t Hash(Dialect dialect, std::string_view text) const;
  [[nodiscard]] uint64_t HashPair(uint32_t metric, uint32_t tags) const;
  // The following functions return nullptr if nothing is found.
  static const Text* FindText(const Table<TextSlot>& table, uint64_t hash, Dialect dialect,
                              std::string_view text);
  static PairSlot* FindPair(const Table<PairSlot>& table, uint64_t hash, uint32_t metric,
                            uint32_t tags);

  bool FindWindow(const View& view, std::span<const KeyedPoint> points, Window* found) const;

  // Callers of the following functions must hold mutex_.
  bool Ready(uint32_t generation);
  void NumberHalves(std::span<const KeyedPoint> points, const KeyedSeries* series, Pair* pairs);
  void RememberPair(const Pair& pair, SeriesNumber number);
  char* Take(size_t bytes);
  template <typename Slot, typename HashOf>
  void MakeRoom(std::shared_ptr<Table<Slot>> View::*table, const HashOf& hash_of);
  uint32_t NumberOf(const Half& half, uint64_t hash, Dialect dialect, std::string_view text,
                    ByteView ids);
  void StartAnew();
  void Retire(std::shared_ptr<const void> gone, size_t bytes);
  /// Frees those retired tables that no reader can use any more. Returns false if readers may still
  /// use some retired tables.
  bool FreeRetired();

  // The following members do not change after construction.
  const uint64_t secret_[3];
  const size_t bytes_max_;

  // The following members are atomic or have their own synchronization, so mutex_ does not guard
  // them.
  std::atomic<const View*> current_{nullptr};
  // The number of readers that may use the current view or an earlier one.
  mutable std::atomic<uint32_t> readers_{0};
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint64_t> raw_keys_{0}, bytes_{0};

  // The following members are guarded by mutex_.
  mutable std::mutex mutex_;
  std::shared_ptr<Space> space_;
  // Tables that were replaced. They are kept until the writer finds that there are no readers.
  std::vector<std::shared_ptr<const void>> retired_;
  size_t retired_bytes_ = 0;
};

}  // namespace hg::tsd
