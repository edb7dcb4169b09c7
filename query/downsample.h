#pragma once
// Downsampling of one series (spec query.md §7): the specification, and the machine that is fed
// with points in time order and gives one double per bucket. Nothing raw is kept beyond the open
// bucket.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "query/aggregator.h"
#include "query/answer.h"
#include "query/bucket_math.h"
#include "query/calendar.h"
#include "query/duration.h"
#include "query/plan.h"
#include "storage/base/status.h"
#include "storage/points/hours_ahead.h"

namespace hg::query {

enum class FillPolicy : uint8_t { kNone, kNan, kNull, kZero, kScalar };

/// `<interval>-<function>[-<fill>]`.
struct DownsampleSpec {
  bool run_all = false;
  bool calendar = false;
  Duration interval;                     // not with run_all
  const Aggregator* function = nullptr;  // any but "none"
  FillPolicy fill = FillPolicy::kNone;
  TimeZone zone;  // of calendar buckets

  /// Of the scan window; 0 with run_all.
  [[nodiscard]] int64_t interval_ms() const { return run_all ? 0 : interval.millis(); }
};

/// InvalidArgument says which part is wrong.
Result<DownsampleSpec> ParseDownsample(std::string_view text);

/// Buckets that a fill policy may give for one series; more is a mistake, and would not fit in
/// memory.
inline constexpr int64_t kFillBucketsMax = 50'000'000;

/// LimitExceeded: the fill policy would give more.
Status CheckFill(const DownsampleSpec& spec, const ScanWindow& window);

/// Bytes of the buckets that a fill policy gives for one series, starts and values; 0 without one.
int64_t FillBytes(const DownsampleSpec& spec, const ScanWindow& window);

/// Whether statistics of rows may stand for their points (Downsampler::AddStatistics).
bool TakesStatistics(const DownsampleSpec& spec);

/// What all series of a sub-query share: where buckets begin, which are emitted. Immutable.
class BucketGrid {
 public:
  BucketGrid(const DownsampleSpec& spec, const ScanWindow& window, int64_t start_ms,
             int64_t end_ms);

  [[nodiscard]] const DownsampleSpec& spec() const { return spec_; }
  /// Points before are ignored.
  [[nodiscard]] int64_t first_point_ms() const { return first_point_ms_; }
  /// Points at or after are ignored (run-all only).
  [[nodiscard]] int64_t end_point_ms() const { return end_point_ms_; }
  /// The bucket that a series' first point opens.
  [[nodiscard]] int64_t FirstBucket(int64_t t) const;
  /// The bucket of a later point, given the open one.
  [[nodiscard]] int64_t BucketOf(int64_t t, int64_t open_start, int64_t* end) const;
  [[nodiscard]] int64_t BucketEnd(int64_t start) const;
  /// Bucket starts that a fill policy emits for every series; empty without fill and for run-all.
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

/// One series. One thread at a time.
class Downsampler {
 public:
  /// The grid outlives the downsampler.
  explicit Downsampler(const BucketGrid* grid) : grid_(grid) {}

  /// Points of one row-hour: ascending, later than all before.
  void Add(int64_t base_ms, std::span<const uint32_t> offset_ms, std::span<const double> values) {
    AddPoints(base_ms, offset_ms, values);
  }
  void Add(int64_t base_ms, std::span<const uint32_t> offset_ms, std::span<const int64_t> values) {
    AddPoints(base_ms, offset_ms, values);
  }
  /// The same of a row-hour's statistics. False, with nothing done: only its points will give what
  /// adding them one by one does, since they fall into several buckets, or are not the first
  /// numbers of a bucket whose sum they may round.
  /// `any_order`: sums may be rounded as they come, and the row may be one of a rollup, which
  /// stands for its whole time.
  bool AddStatistics(int64_t base_ms, const RowStatistics& row, bool any_order = false);
  /// The same of several row-hours, ascending, up to the first that it does not take: how many it
  /// took.
  size_t AddStatistics(std::span<const HourStatistics> hours, bool any_order);
  /// What it holds, and the most that it will hold after `points` more, or at Finish.
  [[nodiscard]] int64_t MemoryBytes() const;
  [[nodiscard]] int64_t MemoryBytesAfter(size_t points) const;
  [[nodiscard]] int64_t MemoryBytesAtFinish() const;
  /// Closes the last bucket and gives bucket starts and values, filled as the specification says.
  /// InvalidArgument: the "scalar" policy met a missing bucket. Once.
  Status Finish(PointColumns* out);

 private:
  struct Bucket {
    int64_t start, end;
  };
  /// The one of a point that is not in the open bucket.
  [[nodiscard]] Bucket NextBucket(int64_t t) const;
  void Open(const Bucket& bucket);
  template <typename T>
  void AddPoints(int64_t base_ms, std::span<const uint32_t> offset_ms, std::span<const T> values);
  template <typename T>
  void Accumulate(std::span<const T> values);
  /// The same for points of many buckets with few values each; false: not for this function.
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
  int64_t bucket_end_ = std::numeric_limits<int64_t>::min();  // min = no bucket is open
  RunningSum running_;             // sum: also the running minimum, maximum, first or last
  double magnitude_ = 0;           // no part of an exact sum is larger; infinite: rounded, maybe
  std::vector<double> collected_;  // for functions that need the whole bucket
  std::vector<int64_t> times_;
  std::vector<uint64_t> bits_;
};

}  // namespace hg::query
