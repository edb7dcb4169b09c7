#pragma once
// Old hours of sub-queries, downsampled, kept for the next one of the same shape: dashboards ask
// the same question every few seconds, and only the newest hour of the answer is new. What is kept
// is what stands before filling, rates, groups and interpolation, so that answers are the same to
// the last bit, whatever the range.
//
// An hour is good as long as nobody has changed a row of its metric in it since before it was read:
// the points' engine tells of such changes (storage/points/watched_points.h) before they are
// acknowledged.

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "query/bucket_hour.h"
#include "storage/base/bytes.h"
#include "storage/base/clock.h"
#include "storage/model/timestamp.h"
#include "storage/points/watched_points.h"

namespace hg::query {

struct BucketCacheStats {
  // Old hours of sub-queries: found, and read.
  uint64_t hits = 0, misses = 0;
  uint64_t stale = 0;    // of those that were read: were kept, but had changed
  uint64_t evicted = 0;  // hours that went for want of room
  uint64_t hours = 0;    // that are kept
  int64_t bytes = 0, bytes_max = 0;
};

/// Thread-safe.
class BucketCache : public ChangeListener {
 public:
  /// Of one sub-query's hours, from its first one on. One that cannot be kept (it has a row of
  /// histograms alone, for one) has those behind it read each time, too.
  struct OldHours {
    std::vector<std::shared_ptr<const BucketHour>> found;  // without a gap
    RowRange missing{0, 0};                                // those behind them that may be kept
    std::vector<uint64_t> generations;                     // of the missing ones, for Keep
  };

  /// Listens to `watched`, which outlives it, as the clock does.
  static std::shared_ptr<BucketCache> Make(int64_t bytes_max, WatchedPoints& watched,
                                           const Clock& clock);

  /// Before the scan of what is missing. `shape`: all that the buckets depend on but the hour.
  OldHours Find(const Bytes& shape, ByteView metric, const RowRange& rows);
  /// An hour of the shape, read since its generation was asked for. Without memory for it: throws
  /// bad_alloc, and nothing has changed.
  void Keep(const Bytes& shape, uint64_t generation, BucketHour hour);
  /// What a kept hour takes.
  [[nodiscard]] static int64_t BytesOf(const BucketHour& hour);
  /// What one sub-query may keep, with what it found: more would drive out too much of what others
  /// ask for.
  [[nodiscard]] int64_t share() const;
  /// A sub-query of more rows has more than that.
  [[nodiscard]] size_t rows_max() const;
  /// Of sub-queries that need not read most of their rows hours are not kept; of this shape they
  /// had to.
  void PreferHours(const Bytes& shape);
  /// Whether one of the shape had to lately.
  [[nodiscard]] bool prefers_hours(const Bytes& shape) const;
  /// False: rows go by themselves (a TTL), and nothing must be kept.
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
  using ByUse = std::list<Kept>;  // the one that was used longest ago comes first
  struct Shape {
    const Bytes* name = nullptr;                          // its key
    int64_t bytes = 0;                                    // without its hours
    std::unordered_map<uint32_t, ByUse::iterator> hours;  // by base
  };

  // Generations are counted for metric and hour together, by hash, and never forgotten: two that
  // fall on one counter only cost each other hits.
  static constexpr size_t kGenerations = 1 << 14;
  [[nodiscard]] static size_t SlotOf(ByteView metric, uint32_t base);
  /// Hours below it are old, and the engine tells of their changes.
  uint32_t RaiseHorizon();
  /// With the lock; what is let go of is to be freed without it. Throws nothing.
  void Erase(ByUse::iterator kept, ByUse* gone);

  const int64_t bytes_max_;
  WatchedPoints& watched_;
  const Clock& clock_;
  std::array<std::atomic<uint64_t>, kGenerations> generations_{};

  // Hashes of shapes, each where it falls, until another one falls there.
  std::array<std::atomic<size_t>, 1 << 10> preferred_{};

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<Bytes, Shape> shapes_;
  ByUse by_use_;
  BucketCacheStats stats_;
};

}  // namespace hg::query
