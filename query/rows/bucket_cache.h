#pragma once
// Caches the downsampled old hours of sub-queries. An hour is old if it ended at least 15 minutes
// ago (kLateMs). The cache helps because dashboards send the same query every few seconds, and only
// the newest hour of its result changes. The cache holds buckets before the steps of filling,
// rates, grouping and interpolation. The result of a query is therefore the same to the last bit
// with and without the cache, for any time range.
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
#include "storage/base/keyed_hash.h"
#include "storage/model/timestamp.h"
#include "storage/points/watched_points.h"

namespace hg::query {

struct BucketCacheStats {
  // `hits` counts old hours of sub-queries that were taken from the cache. `misses` counts old
  // hours that had to be read from the store.
  uint64_t hits = 0, misses = 0;
  uint64_t stale = 0;    // number of cached hours that had changed; included in `misses`
  uint64_t evicted = 0;  // number of hours that were removed because the cache was full
  uint64_t hours = 0;    // number of hours that are in the cache now
  int64_t bytes = 0, bytes_max = 0;
};

/// The cache of downsampled old hours. Thread-safe.
class BucketCache : public ChangeListener {
 public:
  /// The old hours of one sub-query. `found` has the cached hours from the first hour of the
  /// sub-query to the first hour that is not in the cache. `missing` is the range of all old hours
  /// after them. Some hours can never be cached, for example an hour in which a row has only
  /// histograms. Each query reads this kind of hour and all later hours from the store.
  struct OldHours {
    /// Consecutive cached hours; the first is the first hour of the sub-query.
    std::vector<std::shared_ptr<const BucketHour>> found;
    RowRange missing{0, 0};  // the old hours that are not in `found`; Keep may cache them
    std::vector<uint64_t> generations;  // for each hour of `missing`, the value to pass to Keep
  };

  /// Creates a cache and registers it as a listener of `watched`. `watched` and `clock` must
  /// outlive the cache.
  static std::shared_ptr<BucketCache> Make(int64_t bytes_max, WatchedPoints& watched,
                                           const Clock& clock);

  /// Returns the cached buckets of the old hours of `rows` for the metric with the UID `metric`.
  /// Call this function before you scan the missing hours. `shape` is the cache key of the
  /// sub-query: it encodes everything on which the buckets depend, except the hour. The result is
  /// empty if `rows` has too many old hours for the cache.
  OldHours Find(const Bytes& shape, ByteView metric, const RowRange& rows);
  /// An hour for the cache. `generation` is the element of OldHours::generations for this hour; the
  /// caller must have called Find before it read the hour.
  struct NewHour {
    uint64_t generation;
    BucketHour hour;
  };
  /// Puts hours into the cache; the first becomes the most recently used one. `shape` is the cache
  /// key that was passed to Find. It may have megabytes, so it is looked up once for all hours. If
  /// an hour has changed since that call of Find, a later Find ignores the cached hour. An hour
  /// that is larger than share() is not cached. Throws bad_alloc if memory is exhausted; the hours
  /// after the failure are then not in the cache.
  void Keep(const Bytes& shape, std::vector<NewHour> hours);
  /// Returns the number of bytes that `hour` would use in the cache.
  [[nodiscard]] static int64_t BytesOf(const BucketHour& hour);
  /// Returns the maximum number of bytes that one sub-query may use in the cache. The hours that
  /// Find returned to the sub-query count as well. This limit prevents one query from evicting the
  /// hours of all other queries.
  [[nodiscard]] int64_t share() const;
  /// Returns the maximum number of rows (one per series and hour) of a sub-query that can fit into
  /// share() bytes.
  [[nodiscard]] size_t rows_max() const;
  /// Reports that ExtremeFold was slow for a sub-query with the cache key `shape`. ExtremeFold
  /// skips rows that cannot change the result, but this sub-query had to read most of its rows. The
  /// next query with this cache key should use the cache instead of ExtremeFold.
  void PreferHours(const Bytes& shape);
  /// Returns whether PreferHours was called for this cache key. Later calls for other keys may
  /// overwrite this information; the function then returns false.
  [[nodiscard]] bool prefers_hours(const Bytes& shape) const;
  /// Returns whether the cache may be used. Returns false if a TTL is set, because rows then expire
  /// without a report to the cache.
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
    /// Points to the cache key, which is the key of this object in shapes_.
    const Bytes* name = nullptr;
    int64_t bytes = 0;  // memory of the cache key and its tables in bytes, without its hours
    std::unordered_map<uint32_t, ByUse::iterator> hours;  // cached hours by row base in seconds
  };

  // Number of change counters in generations_. The hash of a metric and an hour selects the
  // counter. Counters are never reset. If two pairs of metric and hour share a counter, there may
  // be more cache misses, but results stay correct.
  static constexpr size_t kGenerations = 1 << 14;
  [[nodiscard]] static size_t SlotOf(ByteView metric, uint32_t base);
  /// Sets the horizon of `watched_` to the end of the newest hour that is old, and returns this
  /// time in seconds. The storage engine reports only changes of hours before the horizon.
  uint32_t RaiseHorizon();
  /// Removes the entry from the cache and moves it to `gone`, so that the caller can free it after
  /// releasing the lock. Does not throw. The caller must hold mutex_.
  void Erase(ByUse::iterator kept, ByUse* gone);

  const int64_t bytes_max_;
  WatchedPoints& watched_;
  const Clock& clock_;
  std::array<std::atomic<uint64_t>, kGenerations> generations_{};

  // The hashes of the cache keys for which PreferHours was called. The hash selects the slot that
  // stores it. If two hashes select the same slot, the later one overwrites the earlier one.
  std::array<std::atomic<size_t>, 1 << 10> preferred_{};

  mutable std::mutex mutex_;
  // The following members are guarded by mutex_.
  std::unordered_map<Bytes, Shape, keyed_hash::Hash> shapes_;
  ByUse by_use_;
  BucketCacheStats stats_;
};

}  // namespace hg::query
