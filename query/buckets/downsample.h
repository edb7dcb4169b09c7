#pragma once
// Downsampling of one series (opentsdb-queries.md §7). A Downsampler takes points in time order and
// computes one double per bucket. It stores raw values only for its newest bucket, and only if the
// aggregation function needs all values of a bucket at once.

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

  /// Returns the length of the downsampling interval in milliseconds, or 0 if run_all is set. The
  /// time range that the sub-query scans is longer by this length. A calendar interval has a
  /// nominal length: a month counts as 30 days and a year as 365 days.
  [[nodiscard]] int64_t interval_ms() const { return run_all ? 0 : interval.millis(); }
};

/// Parses a downsampling specification. The message of InvalidArgument contains the text of the
/// invalid part or says what is missing.
Result<DownsampleSpec> ParseDownsample(std::string_view text);

/// The largest number of buckets that a fill policy may produce for one series. A query that needs
/// more buckets is rejected.
inline constexpr int64_t kFillBucketsMax = 50'000'000;

/// Returns whether a downsampler with this specification may use the statistics of a row instead of
/// the points of the row (see Downsampler::AddStatistics).
bool TakesStatistics(const DownsampleSpec& spec);

/// The bucket grid of a sub-query. It computes where buckets start, and which buckets are in the
/// result. All series of the sub-query share one grid. The grid is immutable after BuildFillGrid.
class BucketGrid {
 public:
  /// Creates a grid in constant time. The bucket starts that a fill policy requires are computed
  /// later by BuildFillGrid. `window` is the scan window of the sub-query. `start_ms` and `end_ms`
  /// are the time range of the query; they are used only if run_all is set.
  BucketGrid(const DownsampleSpec& spec, const ScanWindow& window, int64_t start_ms,
             int64_t end_ms);

  /// Computes the bucket starts that the fill policy requires. Call this function before the first
  /// call of Downsampler::Finish or FillGaps. The memory of the bucket starts is charged to
  /// `memory` before it is allocated. LimitExceeded: there would be more than kFillBucketsMax
  /// buckets. Also returns the errors of `memory`.
  Status BuildFillGrid(const ScanWindow& window, MemoryTally* memory);

  [[nodiscard]] const DownsampleSpec& spec() const { return spec_; }
  /// Returns a time in milliseconds. Points before this time are ignored. The time is the start of
  /// the query if run_all is set, and otherwise the first bucket start in the scan window.
  [[nodiscard]] int64_t first_point_ms() const { return first_point_ms_; }
  /// Returns a time in milliseconds. Points at this time or later are ignored. The time is the end
  /// of the query if run_all is set, and otherwise the maximum of int64_t.
  [[nodiscard]] int64_t end_point_ms() const { return end_point_ms_; }
  /// Returns the start of the bucket that contains `t`. `t` is the time of the first point of a
  /// series, in milliseconds.
  [[nodiscard]] int64_t FirstBucket(int64_t t) const;
  /// Returns the start of the bucket that contains `t`. `t` is the time of a point that is not the
  /// first point of its series. `open_start` is the start of the bucket of the previous point. Sets
  /// `*end` to the end of the returned bucket. Adds the number of examined calendar boundaries to
  /// `*steps` (see Calendar::LastUpTo). All times are in milliseconds.
  [[nodiscard]] int64_t BucketOf(int64_t t, int64_t open_start, int64_t* end,
                                 uint64_t* steps) const;
  [[nodiscard]] int64_t BucketEnd(int64_t start) const;
  /// Returns the starts of the buckets that the result of every series must have because of the
  /// fill policy, in ascending order. The list is empty if there is no fill policy, if run_all is
  /// set, or if BuildFillGrid was not called.
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
  /// Adds the points of one row-hour, but uses only the statistics of the row. Returns false and
  /// adds nothing if the points could give another result than the statistics. This is so if the
  /// points fall into several buckets. It is also so if the sum of the row could be rounded
  /// differently than the sum of its single points.
  ///
  /// If `any_order` is true, a different rounding of sums is allowed. Statistics from a rollup
  /// table, which describe a whole rollup interval, are then allowed as well.
  bool AddStatistics(int64_t base_ms, const RowStatistics& row, bool any_order = false);
  /// Adds several row-hours, in ascending order of time, but uses only their statistics. Stops at
  /// the first row for which AddStatistics for one row would return false. Returns the number of
  /// rows added.
  size_t AddStatistics(std::span<const HourStatistics> hours, bool any_order);
  /// MemoryBytes returns the memory that the downsampler uses now, in bytes. MemoryBytesAfter
  /// returns an upper bound of this memory after at most `points` more points. MemoryBytesAtFinish
  /// returns the memory that the downsampler uses during Finish.
  [[nodiscard]] int64_t MemoryBytes() const;
  [[nodiscard]] int64_t MemoryBytesAfter(size_t points) const;
  [[nodiscard]] int64_t MemoryBytesAtFinish() const;
  /// Returns the cost of the calendar boundaries that were examined since the previous call of
  /// TakeCalendarSteps, in steps of a RequestContext.
  [[nodiscard]] uint64_t TakeCalendarSteps();
  /// Computes the value of the last bucket and applies the fill policy. Sets `*out` to the bucket
  /// starts and their values. Call this function only once. InvalidArgument: a bucket is missing
  /// and the fill policy is "scalar".
  Status Finish(PointColumns* out);

 private:
  struct Bucket {
    int64_t start, end;
  };
  /// Returns the bucket that contains the time `t` in milliseconds. `t` must not be before the end
  /// of the current bucket.
  [[nodiscard]] Bucket NextBucket(int64_t t);
  void Open(const Bucket& bucket);
  template <typename T>
  void AddPoints(int64_t base_ms, std::span<const uint32_t> offset_ms, std::span<const T> values);
  template <typename T>
  void Accumulate(std::span<const T> values);
  /// Adds the same points as AddPoints, but is faster if there are many buckets with few values
  /// each. Returns false and adds nothing if this fast path does not support the aggregation
  /// function.
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
  /// End of the current bucket in milliseconds; INT64_MIN: no point was added yet.
  int64_t bucket_end_ = std::numeric_limits<int64_t>::min();
  uint64_t calendar_steps_ = 0;
  /// State of the current bucket. For the functions min, max, first and last, running_.sum holds
  /// the minimum, maximum, first or last value instead of the sum.
  RunningSum running_;
  /// Upper bound for the magnitude of the sum in the current bucket while this sum is exact.
  /// Infinity: the sum may have been rounded.
  double magnitude_ = 0;
  /// All values of the current bucket, for aggregation functions that need all of them at once.
  std::vector<double> collected_;
  std::vector<int64_t> times_;
  std::vector<uint64_t> bits_;
};

}  // namespace hg::query
