#pragma once
// Downsampling of one series (opentsdb-queries.md §7). Downsampler takes points in time order and
// produces one double per bucket. It keeps at most the raw values of the bucket that it is filling.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "query/buckets/aggregator.h"
#include "query/buckets/bucket_math.h"
#include "query/request/answer.h"
#include "query/time/calendar.h"
#include "query/time/duration.h"
#include "query/time/scan_window.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"

namespace hg::query {

enum class FillPolicy : uint8_t { kNone, kNan, kNull, kZero, kScalar };

/// A downsampling specification: `<interval>-<function>[-<fill>]`.
struct DownsampleSpec {
  bool run_all = false;
  bool calendar = false;
  Duration interval;                     // unused if run_all is set
  const Aggregator* function = nullptr;  // any function but "none"
  FillPolicy fill = FillPolicy::kNone;
  TimeZone zone;  // time zone for calendar buckets

  /// Returns the length in milliseconds by which the interval widens the scan window. Returns 0 if
  /// run_all is set.
  [[nodiscard]] int64_t interval_ms() const { return run_all ? 0 : interval.millis(); }
};

/// Parses a specification. The message of InvalidArgument names the invalid part.
Result<DownsampleSpec> ParseDownsample(std::string_view text);

/// The largest number of buckets that a fill policy may produce for one series. Queries that need
/// more buckets are rejected.
inline constexpr int64_t kFillBucketsMax = 50'000'000;

/// Returns whether the downsampler may use row statistics instead of the points of a row
/// (Downsampler::AddStatistics).
bool TakesStatistics(const DownsampleSpec& spec);

/// Computes where the buckets of a sub-query start and which buckets are in the result. All series
/// of the sub-query share one grid. Immutable after BuildFillGrid.
class BucketGrid {
 public:
  /// The constructor takes constant time. BuildFillGrid computes the bucket starts that a fill
  /// policy requires.
  BucketGrid(const DownsampleSpec& spec, const ScanWindow& window, int64_t start_ms,
             int64_t end_ms);

  /// Computes the bucket starts of the fill policy. Call this function before the first series is
  /// filled. Charges the starts to `memory` before it allocates them. LimitExceeded: more than
  /// kFillBucketsMax buckets. Also fails with errors of `memory`.
  Status BuildFillGrid(const ScanWindow& window, MemoryTally* memory);

  [[nodiscard]] const DownsampleSpec& spec() const { return spec_; }
  /// Returns the time before which points are ignored.
  [[nodiscard]] int64_t first_point_ms() const { return first_point_ms_; }
  /// Returns the time from which on points are ignored. Used with run_all only.
  [[nodiscard]] int64_t end_point_ms() const { return end_point_ms_; }
  /// Returns the start of the bucket for the first point of a series.
  [[nodiscard]] int64_t FirstBucket(int64_t t) const;
  /// Returns the start of the bucket for a later point at `t`; `open_start` is the start of the
  /// open bucket. Sets `*end` to the end of the new bucket. `steps` is as in Calendar::LastUpTo.
  [[nodiscard]] int64_t BucketOf(int64_t t, int64_t open_start, int64_t* end,
                                 uint64_t* steps) const;
  [[nodiscard]] int64_t BucketEnd(int64_t start) const;
  /// Returns the bucket starts that a fill policy requires for every series. Returns an empty list
  /// without a fill policy, with run_all, and before BuildFillGrid.
  [[nodiscard]] const std::vector<int64_t>& fill_grid() const { return fill_grid_; }

 private:
  DownsampleSpec spec_;
  std::optional<Calendar> calendar_;
  int64_t interval_ms_ = 0;
  int64_t start_ms_ = 0;
  int64_t first_point_ms_ = 0;
  int64_t end_point_ms_ = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> fill_grid_;
};

/// Downsamples one series. Not thread-safe.
class Downsampler {
 public:
  /// The grid must outlive the downsampler.
  explicit Downsampler(const BucketGrid* grid) : grid_(grid) {}

  /// Adds the points of one row-hour. Times are in milliseconds since `base_ms`, in ascending
  /// order, and later than all points added before.
  void Add(int64_t base_ms, std::span<const uint32_t> offset_ms, std::span<const double> values) {
    AddPoints(base_ms, offset_ms, values);
  }
  void Add(int64_t base_ms, std::span<const uint32_t> offset_ms, std::span<const int64_t> values) {
    AddPoints(base_ms, offset_ms, values);
  }
  /// Adds a row-hour by its statistics. Returns false and does nothing if only the points give the
  /// exact result: if they fall into several buckets, or if their sum could be rounded differently
  /// than when the points are added one by one. `any_order` allows this different rounding. It also
  /// allows statistics from a rollup table, which describe a whole rollup interval.
  bool AddStatistics(int64_t base_ms, const RowStatistics& row, bool any_order = false);
  /// Adds several row-hours by their statistics, in ascending order, up to the first one that
  /// cannot be added. Returns the number of rows added.
  size_t AddStatistics(std::span<const HourStatistics> hours, bool any_order);
  /// These functions return the memory of the object in bytes: now, after at most `points` more
  /// points, and in Finish.
  [[nodiscard]] int64_t MemoryBytes() const;
  [[nodiscard]] int64_t MemoryBytesAfter(size_t points) const;
  [[nodiscard]] int64_t MemoryBytesAtFinish() const;
  /// Returns the number of calendar steps (see Calendar::LastUpTo) since the last call.
  [[nodiscard]] uint64_t TakeCalendarSteps();
  /// Closes the last bucket and sets `*out` to bucket starts and values, filled by the fill policy.
  /// Call this function once. InvalidArgument: a bucket is missing and the fill policy is "scalar".
  Status Finish(PointColumns* out);

 private:
  struct Bucket {
    int64_t start, end;
  };
  /// Returns the bucket of a point that does not belong to the open bucket.
  [[nodiscard]] Bucket NextBucket(int64_t t);
  void Open(const Bucket& bucket);
  template <typename T>
  void AddPoints(int64_t base_ms, std::span<const uint32_t> offset_ms, std::span<const T> values);
  template <typename T>
  void Accumulate(std::span<const T> values);
  /// Like AddPoints, but faster if there are many buckets with few values each. Returns false and
  /// adds nothing if this function does not support the aggregation function.
  template <typename T>
  bool AddShortRuns(int64_t base_ms, std::span<const uint32_t> offset_ms,
                    std::span<const T> values);
  template <typename T, typename Fold>
  size_t FoldWholeBuckets(int64_t base_ms, std::span<const uint32_t> offset_ms,
                          std::span<const T> values, Fold fold);
  template <typename T, typename Fold>
  void FoldShortRuns(int64_t base_ms, std::span<const uint32_t> offset_ms,
                     std::span<const T> values, Fold fold);
  void Close();
  void MakeRoom(size_t buckets);
  Status Fill(PointColumns* out);

  const BucketGrid* grid_;
  int64_t bucket_start_ = 0;
  int64_t bucket_end_ = std::numeric_limits<int64_t>::min();  // INT64_MIN = no bucket is open
  uint64_t calendar_steps_ = 0;
  RunningSum running_;    // in `sum`, also the running minimum, maximum, first or last value
  double magnitude_ = 0;  // bound of the parts of an exact sum; infinity: the sum may be rounded
  std::vector<double> collected_;  // all values of the bucket, for functions that need them
  std::vector<int64_t> times_;
  std::vector<uint64_t> bits_;
};

}  // namespace hg::query
