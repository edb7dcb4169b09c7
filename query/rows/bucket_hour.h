#pragma once
// The buckets of all series of a sub-query in one hour: the result of downsampling, before filling,
// interpolation and grouping. BucketCache keeps these objects for later queries.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "query/request/answer.h"
#include "storage/base/bytes.h"
#include "storage/codec/annotation.h"
#include "storage/points/points.h"

namespace hg::query {

/// Returns the memory of an annotation in bytes, including the object itself.
int64_t MemoryBytes(const codec::Annotation& annotation);

/// The buckets of one series in one hour, as views into the BucketHour or the columns that contain
/// them. Times are milliseconds since the begin of the hour.
struct SeriesHour {
  ByteView order;         // Series::order
  uint32_t points = 0;    // number of raw points
  uint32_t first_ms = 0;  // time of the first raw point
  uint32_t last_ms = 0;
  std::span<const uint32_t> bucket_ms;  // bucket starts
  std::span<const uint64_t> bits;       // bits of doubles
  std::span<const codec::Annotation> annotations;
};

/// All series of one hour, in ascending order of Series::order.
class BucketHour {
 public:
  explicit BucketHour(uint32_t base) : base_(base) {}

  /// Adds a series. Its Series::order must be greater than that of all series that were added
  /// before. Its buckets are the elements [begin, end) of `columns`.
  void Add(const SeriesHour& series, const PointColumns& columns, size_t begin, size_t end);
  /// Frees unused capacity. Call this function once all series have been added.
  void ShrinkToFit();

  [[nodiscard]] uint32_t base() const { return base_; }
  [[nodiscard]] size_t size() const { return parts_.size(); }
  [[nodiscard]] SeriesHour at(size_t i) const;
  [[nodiscard]] bool HasSeriesOf(const BucketHour& other) const { return orders_ == other.orders_; }
  [[nodiscard]] uint64_t points() const { return points_; }
  /// Returns the memory of the object in bytes.
  [[nodiscard]] int64_t bytes() const;

 private:
  struct Part {
    uint32_t order_begin = 0, order_size = 0;
    uint32_t points = 0, first_ms = 0, last_ms = 0;
    // Index of the part's first bucket time. If the previous part has the same bucket times, both
    // parts share them.
    uint32_t times_begin = 0;
    uint32_t bits_begin = 0, buckets = 0;
    uint32_t notes_begin = 0, notes = 0;
  };

  uint32_t base_;
  uint64_t points_ = 0;
  Bytes orders_;  // Series::order of each series, preceded by its length
  std::vector<Part> parts_;
  std::vector<uint32_t> times_;
  std::vector<uint64_t> bits_;
  std::vector<codec::Annotation> annotations_;
};

/// Records which rows of old hours a SeriesSet has read, and which buckets came from each row. Not
/// thread-safe.
class RowRecord {
 public:
  struct Row {
    uint32_t base = 0;
    uint32_t series = 0;  // index into SeriesSet::series(), valid after SeriesSet::Finish
    uint32_t points = 0, first_ms = 0, last_ms = 0;
    uint32_t buckets_begin = 0, buckets_end = 0;  // range in the columns of the series
    uint32_t notes_begin = 0, notes_end = 0;      // range in the annotations of the series
  };

  /// Records rows whose base is below `end`. Gives up after more than `rows_max` rows.
  RowRecord(uint32_t end, size_t rows_max) : end_(end), rows_max_(rows_max) {}

  /// Returns whether the row must be recorded with Add. If true, a new bucket must start with the
  /// row after this one.
  bool Wants(const RowHour& row);
  void Add(const Row& row) { rows_.push_back(row); }
  /// Records that the hour has a row that belongs to no series of the set, so the hour must not be
  /// cached.
  void Spoil(uint32_t base) { spoiled_.insert(base); }
  /// Renumbers the series: `places[i]` is the new index of series i.
  void Renumber(std::span<const uint32_t> places);

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const std::set<uint32_t>& spoiled() const { return spoiled_; }
  /// Returns whether the record is incomplete, because there were too many rows.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  const uint32_t end_;
  const size_t rows_max_;
  bool gave_up_ = false;
  std::vector<Row> rows_;
  std::set<uint32_t> spoiled_;
};

}  // namespace hg::query
