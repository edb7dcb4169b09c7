#pragma once
// Maps raw series keys to series numbers without locks, allocations or decoding. The table looks up
// the metric and the tags separately, and then the pair of their ids. Thus a text for tags that
// many series have in common, such as all metrics of a host, is stored only once. If a client sends
// known tags in a new text, one addition makes the new text known for all series with these tags.
// After the hash, the table also compares the stored bytes. So hash collisions cannot confuse
// series, even if a client constructs such collisions.

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

/// The ids of a series. Each member corresponds to one half of the raw series key of the series.
struct SeriesIds {
  Bytes metric;  // id of the metric
  Bytes pairs;   // ids of tag keys and tag values, in the order of the TSUID
};

/// What the table knows about one raw series key of a batch: the ids, and whether its series is
/// known.
struct KeyedSeries {
  bool known = false;
  SeriesNumber number = 0;
  SeriesIds ids;  // ids of the known halves; set only if the series is unknown
};

/// Returns whether two raw series keys have the same tag bytes and the same dialect.
inline bool SameTags(const RawKey& a, const RawKey& b) {
  return a.tags.size() == b.tags.size() && a.dialect == b.dialect &&
         (a.tags.data() == b.tags.data() || SameBytes(a.tags.data(), b.tags.data(), a.tags.size()));
}

/// The known raw series keys. The object is thread-safe. Readers run at the same time as other
/// readers and as one writer.
class RawKeyTable {
 public:
  /// `key` makes the hash unpredictable for clients. If the table exceeds `bytes_max` bytes, it
  /// removes all its entries. After that, a few batches are slow, until the keys that clients send
  /// are in the table again. If the table rejected new keys instead, all batches with new keys
  /// would stay slow.
  RawKeyTable(uint64_t key, size_t bytes_max);
  ~RawKeyTable();

  /// Sets numbers[i] to the series of points[i]; `numbers` must be as long as `points`. If at least
  /// one series is unknown, the function returns false, and the contents of `numbers` are
  /// undefined.
  bool FindAll(std::span<const KeyedPoint> points, SeriesNumber* numbers) const;

  /// Returns the number of points whose series is unknown, and sets found[i] for points[i]. If the
  /// series is unknown, found[i] has the ids of each half that is known from other series, and ""
  /// for an unknown half.
  size_t FindEach(std::span<const KeyedPoint> points, KeyedSeries* found) const;
  /// Returns the ids of both halves of a raw series key. The ids of an unknown half are "".
  [[nodiscard]] SeriesIds FindHalves(const RawKey& raw_key) const;

  /// Stores a raw series key in the table. Call generation() before you resolve the names, and pass
  /// its result as `generation`. If Forget is called between these two calls, Remember does
  /// nothing.
  void Remember(const RawKey& raw_key, const SeriesIds& ids, SeriesNumber number,
                uint32_t generation);
  /// Stores both halves of the raw series keys of all points for which series[i].known is false. If
  /// the table already has the series of such a point, because of another key with the same ids,
  /// the function sets series[i].known and series[i].number.
  void RememberHalves(std::span<const KeyedPoint> points, KeyedSeries* series, uint32_t generation);
  /// Calls Remember for the keys of all points that are not `known`.
  void RememberAll(std::span<const KeyedPoint> points, const KeyedSeries* series,
                   uint32_t generation);
  [[nodiscard]] uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Removes all keys. Call this function after names have changed.
  void Forget();

  struct Stats {
    uint64_t raw_keys = 0;
    uint64_t bytes = 0;  // total size of the allocated memory in bytes
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
    uint32_t metric, tags;  // Text::number of the metric, and Text::number of the tags
    uint64_t hash;
  };

  [[nodiscard]] uint64_t Hash(Dialect dialect, std::string_view text) const;
  [[nodiscard]] uint64_t HashPair(uint32_t metric, uint32_t tags) const;
  // The following functions return nullptr if the table does not have the text or the series.
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
  /// Frees the retired tables that no reader can use any more. Returns false if readers may still
  /// use a retired table.
  bool FreeRetired();

  // The following members do not change after construction.
  const uint64_t secret_[3];
  const size_t bytes_max_;

  // mutex_ does not guard the following members, because they are atomic or have their own
  // synchronization.
  std::atomic<const View*> current_{nullptr};
  // The number of readers that may use the current view or an earlier view.
  mutable std::atomic<uint32_t> readers_{0};
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint64_t> raw_keys_{0}, bytes_{0};

  // The following members are guarded by mutex_.
  mutable std::mutex mutex_;
  std::shared_ptr<Space> space_;
  // Tables that were replaced. They stay in memory until the writer finds that there are no
  // readers.
  std::vector<std::shared_ptr<const void>> retired_;
  size_t retired_bytes_ = 0;
};

}  // namespace hg::tsd
