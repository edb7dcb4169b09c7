#pragma once
// Caches the downsampled old hours of sub-queries. An hour is old if it ended at least 15 minutes
// ago (kLateMs). Dashboards send the same query every few seconds, and only the newest hour of its
// result changes. The cache holds buckets as they are before filling, rates, grouping and
// interpolation. So the result of a query is the same to the last bit with and without the cache,
// for any time range.
//
// A cached hour is valid until a row of its metric in that hour changes. If a row changes while the
// hour is being read from the store, the hour is invalid, too. The storage engine reports changes
// to the cache before it acknowledges them to the client (storage/points/watched_points.h).

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
  // `hits` counts old hours of sub-queries that were taken from the cache. `misses` counts old
  // hours that had to be read from the store.
  uint64_t hits = 0, misses = 0;
  uint64_t stale = 0;    // number of cached hours that had changed; included in `misses`
  uint64_t evicted = 0;  // number of hours removed because the cache was full
  uint64_t hours = 0;    // number of hours that are in the cache now
  int64_t bytes = 0, bytes_max = 0;
};

/// The cache of old hours. It is thread-safe.
class BucketCache : public ChangeListener {
 public:
  /// The old hours of one sub-query. `found` has the cached hours before the first hour that is not
  /// in the cache. `missing` is the range of all old hours that are not in `found`. Some hours can
  /// never be cached, for example an hour in which a row has only histograms. Each query reads such
  /// an hour and all later hours from the store.
  struct OldHours {
    /// Consecutive cached hours; the first is the first hour of the sub-query.
    std::vector<std::shared_ptr<const BucketHour>> found;
    RowRange missing{0, 0};  // the old hours that are not in `found`; Keep may cache them
    std::vector<uint64_t> generations;  // for each missing hour, the value to pass to Keep
  };

  /// Creates a cache and registers it as a listener of `watched`. `watched` and `clock` must
  /// outlive the cache.
  static std::shared_ptr<BucketCache> Make(int64_t bytes_max, WatchedPoints& watched,
                                           const Clock& clock);

  /// Returns the cached buckets of the old hours of `rows`. Call this function before you scan the
  /// missing hours. `shape` encodes everything on which the buckets depend, except the hour.
  OldHours Find(const Bytes& shape, ByteView metric, const RowRange& rows);
  /// Puts an hour into the cache. `generation` is the element of OldHours::generations for this
  /// hour; the caller must have called Find before it read the hour. If the hour has changed since
  /// that call of Find, the hour is not cached. Throws bad_alloc if memory is exhausted; the cache
  /// is then unchanged.
  void Keep(const Bytes& shape, uint64_t generation, BucketHour hour);
  /// Returns the number of bytes that `hour` would use in the cache.
  [[nodiscard]] static int64_t BytesOf(const BucketHour& hour);
  /// Returns the maximum number of bytes that one sub-query may have in the cache, including the
  /// hours that the sub-query found there. This limit prevents one query from evicting the hours of
  /// all other queries.
  [[nodiscard]] int64_t share() const;
  /// Returns the maximum number of rows with which a sub-query stays within share().
  [[nodiscard]] size_t rows_max() const;
  /// Stores that a sub-query with this shape had to read most of its rows although it used
  /// ExtremeFold, which skips rows that cannot change the result. The next query with this shape
  /// should use the cache instead of ExtremeFold.
  void PreferHours(const Bytes& shape);
  /// Returns whether PreferHours was called recently for this shape.
  [[nodiscard]] bool prefers_hours(const Bytes& shape) const;
  /// Returns false if rows may expire without a report to the cache, because a TTL is set. In this
  /// case nothing may be cached.
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
  using ByUse = std::list<Kept>;  // entries, least recently used first
  struct Shape {
    const Bytes* name = nullptr;  // points to the key of this shape in shapes_
    int64_t bytes = 0;            // memory of the shape in bytes, without its hours
    std::unordered_map<uint32_t, ByUse::iterator> hours;  // cached hours by row base in seconds
  };

  // Number of change counters. The hash of a metric and an hour selects the counter. Counters are
  // never reset. If two pairs of metric and hour share a counter, there may be more cache misses,
  // but results stay correct.
  static constexpr size_t kGenerations = 1 << 14;
  [[nodiscard]] static size_t SlotOf(ByteView metric, uint32_t base);
  /// Sets the horizon to the end of the newest hour that counts as old, and returns the horizon.
  /// The storage engine reports changes of hours before the horizon.
  uint32_t RaiseHorizon();
  /// Moves the entry to `gone`, so that the caller can free it after releasing the lock. Does not
  /// throw. The caller must hold mutex_.
  void Erase(ByUse::iterator kept, ByUse* gone);

  const int64_t bytes_max_;
  WatchedPoints& watched_;
  const Clock& clock_;
  std::array<std::atomic<uint64_t>, kGenerations> generations_{};

  // The hashes of shapes for which PreferHours was called. The hash selects the slot that stores
  // it. If two hashes select the same slot, the later one overwrites the earlier one.
  std::array<std::atomic<size_t>, 1 << 10> preferred_{};

  mutable std::mutex mutex_;
  // The following members are guarded by mutex_.
  std::unordered_map<Bytes, Shape> shapes_;
  ByUse by_use_;
  BucketCacheStats stats_;
};

}  // namespace hg::query
