#pragma once
// Caches the downsampled old hours of sub-queries. Dashboards send the same query every few
// seconds, and only the newest hour of the result is new. The cache holds the buckets before
// filling, rates, grouping and interpolation. So the result of a query is the same to the last bit
// with and without the cache, for any time range.
//
// A cached hour is valid until a row of its metric in that hour changes. Changes that are made
// while the hour is being read from the store make it invalid, too. The storage engine reports such
// changes before it acknowledges them (storage/points/watched_points.h).

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "query/rows/bucket_hour.h"
#include "storage/base/bytes.h"
#include "storage/base/clock.h"
#include "storage/model/timestamp.h"
#include "storage/points/watched_points.h"

namespace hg::query {

struct BucketCacheStats {
  // Numbers of old hours of sub-queries: `hits` were in the cache, and `misses` had to be read from
  // the store.
  uint64_t hits = 0, misses = 0;
  uint64_t stale = 0;    // cached hours that had changed; included in `misses`
  uint64_t evicted = 0;  // hours removed because the cache was full
  uint64_t hours = 0;    // hours that are now in the cache
  int64_t bytes = 0, bytes_max = 0;
};

/// Thread-safe.
class BucketCache : public ChangeListener {
 public:
  /// The old hours of one sub-query, from its first hour on. `found` has the cached hours before
  /// the first hour that is not in the cache. `missing` has all later hours. Some hours can never
  /// be cached, for example if a row has only histograms. Each query then reads such an hour and
  /// all later ones from the store.
  struct OldHours {
    std::vector<std::shared_ptr<const BucketHour>> found;  // consecutive hours from the first one
    RowRange missing{0, 0};  // the old hours after `found`; they may be added to the cache
    std::vector<uint64_t> generations;  // for each missing hour, the argument for Keep
  };

  /// The cache registers itself as listener of `watched`. `watched` and `clock` must outlive the
  /// cache.
  static std::shared_ptr<BucketCache> Make(int64_t bytes_max, WatchedPoints& watched,
                                           const Clock& clock);

  /// Returns the cached buckets of those hours of `rows` that are older than the horizon. Call this
  /// function before the scan that reads the missing hours. `shape` encodes everything on which the
  /// buckets depend, except the hour.
  OldHours Find(const Bytes& shape, ByteView metric, const RowRange& rows);
  /// Puts an hour into the cache. `generation` is the element of OldHours::generations that Find
  /// returned for this hour before it was read. If the hour has changed since then, it is not
  /// cached. Throws bad_alloc if memory is exhausted; the cache is then unchanged.
  void Keep(const Bytes& shape, uint64_t generation, BucketHour hour);
  /// Returns the number of bytes that `hour` needs in the cache.
  [[nodiscard]] static int64_t BytesOf(const BucketHour& hour);
  /// Returns the maximum number of bytes in the cache for one sub-query, including hours that it
  /// found there. The limit prevents one query from evicting the hours of all others.
  [[nodiscard]] int64_t share() const;
  /// Returns the number of rows above which a sub-query exceeds its share.
  [[nodiscard]] size_t rows_max() const;
  /// Stores that a sub-query of this shape had to read most of its rows although it used
  /// ExtremeFold, which skips rows that cannot change the result. The next query with this shape
  /// should use the cache instead.
  void PreferHours(const Bytes& shape);
  /// Returns whether PreferHours was called for this shape recently.
  [[nodiscard]] bool prefers_hours(const Bytes& shape) const;
  /// Returns false if rows expire without a report (a TTL is set). Then nothing may be cached.
  [[nodiscard]] bool usable() const { return !watched_.RowsExpire(); }

  void AfterChange(const ChangedRows& rows) override;
  void AfterAlteration() override;

  [[nodiscard]] BucketCacheStats Stats() const;

 private:
  BucketCache(int64_t bytes_max, WatchedPoints& watched, const Clock& clock);

  struct Shape;
  struct Kept {
    Shape* shape = nullptr;
    uint64_t generation = 0;
    int64_t bytes = 0;
    std::shared_ptr<const BucketHour> hour;
  };
  using ByUse = std::list<Kept>;  // least recently used entry first
  struct Shape {
    const Bytes* name = nullptr;                          // key of this shape in shapes_
    int64_t bytes = 0;                                    // memory of the shape without its hours
    std::unordered_map<uint32_t, ByUse::iterator> hours;  // key: row base in seconds
  };

  // There is a counter for each hash of a metric and an hour. It is never reset. Two pairs with the
  // same hash share a counter; the only effect is that there may be more cache misses.
  static constexpr size_t kGenerations = 1 << 14;
  [[nodiscard]] static size_t SlotOf(ByteView metric, uint32_t base);
  /// Sets the horizon to the end of the newest hour that counts as old, and returns it. The engine
  /// reports changes of hours before the horizon.
  uint32_t RaiseHorizon();
  /// The caller must hold mutex_. Moves the entry to `gone`, so that the caller can free it after
  /// releasing the lock. Does not throw.
  void Erase(ByUse::iterator kept, ByUse* gone);

  const int64_t bytes_max_;
  WatchedPoints& watched_;
  const Clock& clock_;
  std::array<std::atomic<uint64_t>, kGenerations> generations_{};

  // Hashes of shapes for which PreferHours was called. A hash is in the slot that it selects. If
  // two hashes select the same slot, the second one overwrites the first one.
  std::array<std::atomic<size_t>, 1 << 10> preferred_{};

  mutable std::mutex mutex_;
  // The following members are guarded by mutex_.
  std::unordered_map<Bytes, Shape> shapes_;
  ByUse by_use_;
  BucketCacheStats stats_;
};

}  // namespace hg::query
