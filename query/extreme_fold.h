#pragma once
// The greatest of many series, of buckets that are the greatest of their points (or the least of
// the least). To that most rows of most series add nothing, and their statistics say so: what has
// nothing above what all of its buckets have already need not be read.
//
// What is kept is one number for each bucket of the answer, not the series. So only series without
// a gap between their buckets may be taken: where OpenTSDB interpolates it needs the series'
// own ones. Zeros must have one sign only, since which of 0.0 and -0.0 is the answer depends on the
// order of the series. SeriesSet sees to both.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "query/aggregator.h"
#include "query/answer.h"
#include "storage/model/key_layout.h"
#include "storage/points/points.h"

namespace hg::query {

/// Thread-safe: parts of a scan tell each other what need not be read.
class ExtremeFold {
 public:
  /// `function`: kMax or kMin. Of buckets that divide an hour, those that begin in [first_ms,
  /// last_ms], of the rows in that time.
  ExtremeFold(Function function, int64_t interval_ms, int64_t first_ms, int64_t last_ms);

  /// Bytes that so many buckets take.
  [[nodiscard]] static int64_t BytesOf(int64_t buckets);
  [[nodiscard]] int64_t interval_ms() const { return interval_ms_; }
  /// Starts of the first and the last bucket that are shown.
  [[nodiscard]] int64_t first_ms() const { return first_ms_; }
  [[nodiscard]] int64_t last_ms() const { return last_ms_; }
  [[nodiscard]] bool shows(int64_t bucket_ms) const {
    return bucket_ms >= first_ms_ && bucket_ms <= last_ms_;
  }

  /// Whether the points of a row may change an answer. Its base begins an hour.
  [[nodiscard]] bool Needs(int64_t base_ms, const RowStatistics& row) const;
  /// Takes the buckets of a row: their starts and values.
  void Take(const PointColumns& buckets);

  /// What all came to, when all have been taken: buckets that follow each other without a gap stand
  /// together.
  [[nodiscard]] std::vector<PointColumns> Runs() const;

 private:
  /// Those of its buckets that are shown, by place.
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
  void RaiseFloor(size_t hour);

  static constexpr int64_t kHourMs = int64_t{kRowSpan} * 1000;

  const double sign_;  // of a least one the negative number is the greatest
  const int64_t interval_ms_;
  const int64_t first_ms_, last_ms_;         // starts of buckets
  std::vector<std::atomic<double>> floors_;  // by hour: all its buckets have at least that

  std::mutex mutex_;
  // Guarded by mutex_ while rows are read.
  std::vector<double> values_;    // by bucket, with the sign
  std::vector<uint8_t> filled_;   // by bucket: some series has it
  std::vector<size_t> unfilled_;  // by hour: how many of its buckets no series has
};

}  // namespace hg::query
