#pragma once
// Downsampling of one series (opentsdb-queries.md §7). A Downsampler takes points in time order and
// produces one double per bucket. It stores at most the raw values of the bucket that is open.

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
  Duration interval;                     // length of a bucket; unused if run_all is set
  const Aggregator* function = nullptr;  // any aggregation function except "none"
  FillPolicy fill = FillPolicy::kNone;
  TimeZone zone;  // time zone for calendar buckets

  /// Returns by how many milliseconds the downsampling interval widens the time range that is
  /// scanned. Returns 0 if run_all is set.
  [[nodiscard]] int64_t interval_ms() const { return run_all ? 0 : interval.millis(); }
};

/// Parses a downsampling specification. The message of InvalidArgument contains the invalid part.
Result<DownsampleSpec> ParseDownsample(std::string_view text);

/// The largest number of buckets that a fill policy may produce for one series. A query that needs
/// more buckets is rejected.
inline constexpr int64_t kFillBucketsMax = 50'000'000;

/// Returns whether the downsampler may use the statistics of a row instead of the points of the row
/// (see Downsampler::AddStatistics).
bool TakesStatistics(const DownsampleSpec& spec);

/// The bucket grid of a sub-query. It computes where buckets start, and which buckets are in the
/// result. All series of the sub-query share one grid. The grid is immutable after BuildFillGrid.
class BucketGrid {
 public:
  /// Takes constant time, because the bucket starts that a fill policy requires are computed later
  /// by BuildFillGrid.
  BucketGrid(const DownsampleSpec& spec, const ScanWindow& window, int64_t start_ms,
             int64_t end_ms);

  /// Computes the bucket starts that the fill policy requires. Call this function before the first
  /// series is filled. The memory of the bucket starts is charged to `memory` before it is
  /// allocated. LimitExceeded: there would be more than kFillBucketsMax buckets. Also fails if
  /// `memory` reports an error.
  Status BuildFillGrid(const ScanWindow& window, MemoryTally* memory);

  [[nodiscard]] const DownsampleSpec& spec() const { return spec_; }
  /// Returns the start of the time range; points before this time are ignored.
  [[nodiscard]] int64_t first_point_ms() const { return first_point_ms_; }
  /// Returns the end of the time range; points at this time or later are ignored. The end is used
  /// only if run_all is set.
  [[nodiscard]] int64_t end_point_ms() const { return end_point_ms_; }
  /// Returns the start of the bucket that contains `t`, the time of the first point of a series.
  [[nodiscard]] int64_t FirstBucket(int64_t t) const;
  /// Returns the start of the bucket that contains `t`, the time of a point after the first one.
  /// `open_start` is the start of the open bucket. Sets `*end` to the end of the returned bucket.
  /// `steps` counts calendar steps as in Calendar::LastUpTo.
  [[nodiscard]] int64_t BucketOf(int64_t t, int64_t open_start, int64_t* end,
                                 uint64_t* steps) const;
  [[nodiscard]] int64_t BucketEnd(int64_t start) const;
  /// Returns the bucket starts that a fill policy requires for every series. The list is empty if
  /// there is no fill policy, if run_all is set, or if BuildFillGrid was not called.
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

/// Downsamples one series. A downsampler is not thread-safe.
class Downsampler {
 public:
  /// `grid` must outlive the downsampler.
  explicit Downsampler(const BucketGrid* grid) : grid_(grid) {}

  /// Adds the points of one row-hour. Times are in milliseconds since `base_ms`, and in ascending
  /// order. They must be later than the times of all points that were added before.
  void Add(int64_t base_ms, std::span<const uint32_t> offset_ms, std::span<const double> values) {
    AddPoints(base_ms, offset_ms, values);
  }
  void Add(int64_t base_ms, std::span<const uint32_t> offset_ms, std::span<const int64_t> values) {
    AddPoints(base_ms, offset_ms, values);
  }
  /// Adds the points of a row-hour by means of the statistics of the row. Returns false and adds
  /// nothing if the points could give another result than the statistics. That is so if the points
  /// fall into several buckets, or if the sum of the row could be rounded differently than a sum of
  /// single points.
  ///
  /// `any_order` allows this different rounding. It also allows statistics from a rollup table,
  /// which describe a whole rollup interval.
  bool AddStatistics(int64_t base_ms, const RowStatistics& row, bool any_order = false);
  /// Adds several row-hours by means of their statistics, in ascending order of time. Stops at the
  /// first row that AddStatistics for one row would refuse. Returns the number of rows added.
  size_t AddStatistics(std::span<const HourStatistics> hours, bool any_order);
  /// MemoryBytes returns the memory of the downsampler in bytes. MemoryBytesAfter returns its
  /// memory after at most `points` more points, and MemoryBytesAtFinish returns its memory during
  /// Finish.
  [[nodiscard]] int64_t MemoryBytes() const;
  [[nodiscard]] int64_t MemoryBytesAfter(size_t points) const;
  [[nodiscard]] int64_t MemoryBytesAtFinish() const;
  /// Returns the number of calendar steps (see Calendar::LastUpTo) since the previous call of
  /// TakeCalendarSteps.
  [[nodiscard]] uint64_t TakeCalendarSteps();
  /// Closes the last bucket, applies the fill policy, and sets `*out` to the bucket starts and
  /// their values. Call this function only once. InvalidArgument: a bucket is missing and the fill
  /// policy is "scalar".
  Status Finish(PointColumns* out);

 private:
  struct Bucket {
    int64_t start, end;
  };
  /// Returns the bucket that contains a point after the open bucket.
  [[nodiscard]] Bucket NextBucket(int64_t t);
  void Open(const Bucket& bucket);
  template <typename T>
  void AddPoints(int64_t base_ms, std::span<const uint32_t> offset_ms, std::span<const T> values);
  template <typename T>
  void Accumulate(std::span<const T> values);
  /// Adds points as AddPoints does, but is faster if there are many buckets with few values each.
  /// Returns false and adds nothing if this fast path does not support the aggregation function.
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
  /// End of the open bucket; INT64_MIN = no bucket is open.
  int64_t bucket_end_ = std::numeric_limits<int64_t>::min();
  uint64_t calendar_steps_ = 0;
  RunningSum running_;  // running_.sum is also the running minimum, maximum, first or last value
  /// Upper bound for the magnitude of an exact sum; infinity: rounding is allowed.
  double magnitude_ = 0;
  /// All values of the open bucket, for functions that need all of them.
  std::vector<double> collected_;
  std::vector<int64_t> times_;
  std::vector<uint64_t> bits_;
};

}  // namespace hg::query
