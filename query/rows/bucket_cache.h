#pragma once
// Caches the downsampled old hours of sub-queries. Dashboards send the same query every few
// seconds, and only the newest hour of the result is new. The cache holds the buckets before
// filling, rates, grouping and interpolation are applied. So the result of a query is the same to
// the last bit with and without the cache, for any time range.
//
// A cached hour is valid until a row of its metric in that hour changes. Changes made while the
// hour is read from the store make it invalid, too. The storage engine reports such changes before
// it acknowledges them (storage/points/watched_points.h).

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
  // Old hours of sub-queries: `hits` were found in the cache, `misses` had to be read from the
  // store.
  uint64_t hits = 0, misses = 0;
  uint64_t stale = 0;    // hours that were cached but had changed since; included in `misses`
  uint64_t evicted = 0;  // hours that were removed because the cache was full
  uint64_t hours = 0;    // hours in the cache now
  int64_t bytes = 0, bytes_max = 0;
};

/// Thread-safe.
class BucketCache : public ChangeListener {
 public:
  /// The old hours of one sub-query, counted from its first hour. The cached hours up to the first
  /// one that is not in the cache are in `found`; all later hours are in `missing`. Some hours can
  /// never be cached, for example if a row has only histograms. Each query then reads that hour and
  /// all later ones.
  struct OldHours {
    std::vector<std::shared_ptr<const BucketHour>> found;  // consecutive, from the first hour on
    RowRange missing{0, 0};  // the old hours after `found`; they may be put into the cache
    std::vector<uint64_t> generations;  // for each missing hour, the value to pass to Keep
  };

  /// The cache registers itself as listener of `watched`. `watched` and `clock` must outlive the
  /// cache.
  static std::shared_ptr<BucketCache> Make(int64_t bytes_max, WatchedPoints& watched,
                                           const Clock& clock);

  /// Returns the cached buckets of those hours of `rows` that are older than the horizon. Call it
  /// before the scan that reads the hours that are missing. `shape` encodes everything that the
  /// buckets depend on except the hour.
  OldHours Find(const Bytes& shape, ByteView metric, const RowRange& rows);
  /// Stores an hour. `generation` is the element of OldHours::generations that Find returned for
  /// this hour before the hour was read. If the hour has changed since, it is not stored. Throws
  /// bad_alloc if memory is exhausted; the cache is then unchanged.
  void Keep(const Bytes& shape, uint64_t generation, BucketHour hour);
  /// Returns the number of bytes that `hour` takes in the cache.
  [[nodiscard]] static int64_t BytesOf(const BucketHour& hour);
  /// Returns the number of bytes that one sub-query may hold in the cache, including the hours that
  /// it found there. The limit keeps one query from evicting the hours of all others.
  [[nodiscard]] int64_t share() const;
  /// Returns the number of rows above which a sub-query exceeds its share.
  [[nodiscard]] size_t rows_max() const;
  /// Records that a sub-query of this shape had to read most of its rows although it used
  /// ExtremeFold, which skips rows that cannot change the result. The next such query should use
  /// the cache instead.
  void PreferHours(const Bytes& shape);
  /// Returns whether PreferHours was called for this shape recently.
  [[nodiscard]] bool prefers_hours(const Bytes& shape) const;
  /// Returns false if rows expire without notice (a TTL is set). Nothing may be cached then.
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
    const Bytes* name = nullptr;                          // the shape's key in shapes_
    int64_t bytes = 0;                                    // memory of the shape without its hours
    std::unordered_map<uint32_t, ByUse::iterator> hours;  // by row base, in seconds
  };

  // Each counter belongs to the hash of a metric and an hour, and is never reset. Two pairs with
  // the same hash share a counter; this can only cause additional cache misses.
  static constexpr size_t kGenerations = 1 << 14;
  [[nodiscard]] static size_t SlotOf(ByteView metric, uint32_t base);
  /// Sets the horizon to the end of the newest hour that counts as old, and returns it. The engine
  /// reports changes of hours before the horizon.
  uint32_t RaiseHorizon();
  /// The caller holds mutex_. Moves the entry to `gone`, so that the caller can free it after it
  /// has released the lock. Does not throw.
  void Erase(ByUse::iterator kept, ByUse* gone);

  const int64_t bytes_max_;
  WatchedPoints& watched_;
  const Clock& clock_;
  std::array<std::atomic<uint64_t>, kGenerations> generations_{};

  // Hashes of shapes for which PreferHours was called, each in the slot that it selects. A shape
  // that selects the same slot overwrites the hash.
  std::array<std::atomic<size_t>, 1 << 10> preferred_{};

  mutable std::mutex mutex_;
  // The following members are guarded by mutex_.
  std::unordered_map<Bytes, Shape> shapes_;
  ByUse by_use_;
  BucketCacheStats stats_;
};

}  // namespace hg::query
