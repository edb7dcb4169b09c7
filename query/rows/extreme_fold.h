#pragma once
// Computes, over many series, the maximum of buckets that are themselves maxima (or the minimum of
// minima). Most rows cannot change such a maximum. A row is skipped if the maximum in its
// statistics is not above the value of any bucket of its hour.
//
// ExtremeFold keeps one number per bucket of the result instead of the series. So it accepts only
// series without a gap between their buckets: OpenTSDB interpolates in gaps and needs the series'
// own buckets there. It also accepts no -0.0, because the choice between 0.0 and -0.0 depends on
// the order of the series. SeriesSet checks both conditions.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "query/buckets/aggregator.h"
#include "query/request/answer.h"
#include "storage/model/key_layout.h"
#include "storage/points/points.h"

namespace hg::query {

/// Thread-safe. Parts of a scan share one object, so each part can skip rows that another part made
/// unnecessary.
class ExtremeFold {
 public:
  /// `function` is kMax or kMin. The result consists of the buckets that start in [first_ms,
  /// last_ms]. The interval must divide an hour.
  ExtremeFold(Function function, int64_t interval_ms, int64_t first_ms, int64_t last_ms);

  /// Returns the bytes of memory that an object with `buckets` buckets takes.
  [[nodiscard]] static int64_t BytesOf(int64_t buckets);
  [[nodiscard]] int64_t interval_ms() const { return interval_ms_; }
  /// Return the starts of the first and the last bucket of the result.
  [[nodiscard]] int64_t first_ms() const { return first_ms_; }
  [[nodiscard]] int64_t last_ms() const { return last_ms_; }
  [[nodiscard]] bool shows(int64_t bucket_ms) const {
    return bucket_ms >= first_ms_ && bucket_ms <= last_ms_;
  }

  /// Returns whether the points of a row may change the result. The row's base must be the begin of
  /// an hour.
  [[nodiscard]] bool Needs(int64_t base_ms, const RowStatistics& row) const;
  /// Adds the buckets of a row: their starts and values. Returns how many other buckets it
  /// compared; callers count this as work.
  size_t Take(const PointColumns& buckets);

  /// Returns the result. Call this function after the last Take. Consecutive buckets without a gap
  /// form one element.
  [[nodiscard]] std::vector<PointColumns> Runs() const;

 private:
  /// The range of an hour's buckets in values_.
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
  /// Sets the floor of the hour to the minimum of its buckets. Returns the number of buckets in the
  /// hour.
  size_t RaiseFloor(size_t hour);

  static constexpr int64_t kHourMs = int64_t{kRowSpan} * 1000;

  const double sign_;  // -1 for minima: values are negated, so that the code only computes maxima
  const int64_t interval_ms_;
  const int64_t first_ms_, last_ms_;  // bucket starts
  // By hour: a lower bound of the values of all its buckets.
  std::vector<std::atomic<double>> floors_;

  std::mutex mutex_;
  // The following members are guarded by mutex_ while rows are read.
  std::vector<double> values_;    // by bucket, multiplied by sign_
  std::vector<uint8_t> filled_;   // by bucket: 1 if some series has a value there
  std::vector<size_t> unfilled_;  // by hour: number of buckets without a value
};

}  // namespace hg::query
