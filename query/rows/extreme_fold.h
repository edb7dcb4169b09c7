#pragma once
// Computes the maximum of many series whose buckets are themselves maxima, or the minimum of series
// whose buckets are minima. Most rows cannot change the result. A row is skipped if the maximum in
// the statistics of the row is not above the value of any bucket of its hour.
//
// ExtremeFold stores one number for each bucket of the result and does not store the series. It
// therefore accepts only series without a gap between their buckets: OpenTSDB interpolates in gaps,
// and interpolation needs the buckets of each series. ExtremeFold also does not accept -0.0,
// because the order of the series would decide whether the result is 0.0 or -0.0. SeriesSet checks
// both conditions.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "query/buckets/aggregator.h"
#include "query/request/answer.h"
#include "storage/model/key_layout.h"
#include "storage/points/points.h"

namespace hg::query {

/// Computes the maximum of maxima, or the minimum of minima. Thread-safe. All parts of a scan share
/// one object: if one part has read a high value, all parts can skip rows with lower values.
class ExtremeFold {
 public:
  /// `function` is kMax or kMin. The result has the buckets that start in [first_ms, last_ms].
  /// `interval_ms` is the length of a bucket and must divide an hour.
  ExtremeFold(Function function, int64_t interval_ms, int64_t first_ms, int64_t last_ms);

  /// Returns the memory of an ExtremeFold with `buckets` buckets and of its result, in bytes.
  [[nodiscard]] static int64_t BytesOf(int64_t buckets);
  [[nodiscard]] int64_t interval_ms() const { return interval_ms_; }
  /// `first_ms` returns the start of the first bucket of the result. `last_ms` returns the start of
  /// the last bucket.
  [[nodiscard]] int64_t first_ms() const { return first_ms_; }
  [[nodiscard]] int64_t last_ms() const { return last_ms_; }
  [[nodiscard]] bool shows(int64_t bucket_ms) const {
    return bucket_ms >= first_ms_ && bucket_ms <= last_ms_;
  }

  /// Returns whether the points of a row with these statistics may change the result. `base_ms` is
  /// the base of the row, which must be the start of an hour.
  [[nodiscard]] bool Needs(int64_t base_ms, const RowStatistics& row) const;
  /// Adds the buckets of a row; `buckets` has their starts and values. To keep floors_ up to date,
  /// the function sometimes compares all buckets of an hour. Returns the number of buckets that it
  /// compared for this purpose; callers charge this number as work.
  size_t Take(const PointColumns& buckets);

  /// Returns the result. Call this function after the last call of Take. Each element of the result
  /// is a series of consecutive buckets without a gap.
  [[nodiscard]] std::vector<PointColumns> Runs() const;

 private:
  /// The indices [begin, end) in values_ of the buckets of one hour.
  struct Places {
    size_t begin, end;
  };
  [[nodiscard]] Places PlacesOf(size_t hour) const;
  [[nodiscard]] size_t HourOf(int64_t time_ms) const {
    return static_cast<size_t>(time_ms / kHourMs - first_ms_ / kHourMs);
  }
  [[nodiscard]] size_t PlaceOf(int64_t bucket_ms) const {
    return static_cast<size_t>((bucket_ms - first_ms_) / interval_ms_);
  }
  /// Sets the element of floors_ for `hour` to the minimum of all buckets of the hour. Returns the
  /// number of buckets in the hour.
  size_t RaiseFloor(size_t hour);

  static constexpr int64_t kHourMs = int64_t{kRowSpan} * 1000;

  /// 1 for maxima, -1 for minima. All values are multiplied by sign_, so that the code only has to
  /// compute maxima.
  const double sign_;
  const int64_t interval_ms_;
  const int64_t first_ms_, last_ms_;  // starts of the first and of the last bucket, in milliseconds
  // For each hour, a lower bound of the elements of values_ for this hour.
  std::vector<std::atomic<double>> floors_;

  std::mutex mutex_;
  // The following members are guarded by mutex_ until the last call of Take has returned.
  std::vector<double> values_;    // for each bucket, its value multiplied by sign_
  std::vector<uint8_t> filled_;   // for each bucket: 1 if a series has a value there, otherwise 0
  std::vector<size_t> unfilled_;  // for each hour: number of buckets without a value
};

}  // namespace hg::query
