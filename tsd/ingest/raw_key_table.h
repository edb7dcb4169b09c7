#pragma once
// Maps raw series keys to series numbers without locks, allocations or decoding. It looks up the
// metric and the tags separately, and then the pair of their ids. So the text of equal tags, such
// as those of all metrics of a host, is stored only once. If a client sends known tags in a new
// text, one addition makes the new text known for all series with these tags. The stored bytes are
// compared after the hash, so hash collisions cannot confuse series, even if a client constructs
// them.

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

/// The ids of a series: one member for each half (metric, tags) of its raw series key.
struct SeriesIds {
  Bytes metric;  // id of the metric
  Bytes pairs;   // ids of keys and values as in the TSUID
};

/// A raw series key in a batch that is looked up or learned.
struct KeyedSeries {
  bool known = false;
  SeriesNumber number = 0;
  SeriesIds ids;  // the ids of the known halves; set only while the series is unknown
};

/// Returns whether both have the same tag bytes and dialect.
inline bool SameTags(const RawKey& a, const RawKey& b) {
  return a.tags.size() == b.tags.size() && a.dialect == b.dialect &&
         (a.tags.data() == b.tags.data() || SameBytes(a.tags.data(), b.tags.data(), a.tags.size()));
}

/// Thread-safe: any number of readers concurrently with one writer at a time.
class RawKeyTable {
 public:
  /// `key` makes the hash unpredictable for clients. If the table exceeds bytes_max, all entries
  /// are removed, which makes a few batches slow until they are learned again. If new keys were
  /// rejected instead, all batches with these keys would stay slow.
  RawKeyTable(uint64_t key, size_t bytes_max);
  ~RawKeyTable();

  /// Sets numbers[i] to the series of points[i]; `numbers` is as long as `points`. Returns false if
  /// at least one is unknown. `numbers` is then undefined.
  bool FindAll(std::span<const KeyedPoint> points, SeriesNumber* numbers) const;

  /// Returns the number of unknown points and sets found[i] for points[i]. For an unknown point,
  /// found[i] has the ids of those halves that are known from other series, and "" for the others.
  size_t FindEach(std::span<const KeyedPoint> points, KeyedSeries* found) const;
  /// Returns the ids of the halves of a raw series key. A half that no known series has gets "".
  [[nodiscard]] SeriesIds FindHalves(const RawKey& raw_key) const;

  /// Remembers a raw series key. `generation` must come from generation() before the names were
  /// resolved. If Forget was called since then, nothing is remembered.
  void Remember(const RawKey& raw_key, const SeriesIds& ids, SeriesNumber number,
                uint32_t generation);
  /// Remembers the halves of all points that are not `known`. A whole key is remembered only if its
  /// series is known by another key with the same ids. Then `known` becomes true.
  void RememberHalves(std::span<const KeyedPoint> points, KeyedSeries* series, uint32_t generation);
  /// Calls Remember for all points that are not `known`.
  void RememberAll(std::span<const KeyedPoint> points, const KeyedSeries* series,
                   uint32_t generation);
  [[nodiscard]] uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Forgets all keys, because names changed.
  void Forget();

  struct Stats {
    uint64_t raw_keys = 0;
    uint64_t bytes = 0;  // all allocated memory
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

  // Callers of the following functions hold mutex_.
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
  /// Frees retired tables that no reader can use any more. Returns false if readers may still use
  /// some of them.
  bool FreeRetired();

  // The following members are constant.
  const uint64_t secret_[3];
  const size_t bytes_max_;

  // The following members are atomic or have their own synchronization, so mutex_ does not guard
  // them.
  std::atomic<const View*> current_{nullptr};
  // Number of readers that may use the current view or an earlier one.
  mutable std::atomic<uint32_t> readers_{0};
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint64_t> raw_keys_{0}, bytes_{0};

  // The following members are guarded by mutex_.
  mutable std::mutex mutex_;
  std::shared_ptr<Space> space_;
  // Replaced tables, which are kept until the writer finds that there are no readers.
  std::vector<std::shared_ptr<const void>> retired_;
  size_t retired_bytes_ = 0;
};

}  // namespace hg::tsd
