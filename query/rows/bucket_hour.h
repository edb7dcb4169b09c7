#pragma once
// The buckets of all series of a sub-query in one hour, as downsampling computes them, before
// filling, interpolation and grouping. BucketCache keeps BucketHour objects for later queries.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "query/request/answer.h"
#include "storage/base/bytes.h"
#include "storage/codec/annotation.h"
#include "storage/points/points.h"

namespace hg::query {

/// Returns the memory that an annotation uses in bytes, including the Annotation object itself.
int64_t MemoryBytes(const codec::Annotation& annotation);

/// The buckets of one series in one hour. The spans are views of a BucketHour or of the columns
/// that contain the buckets, and are valid as long as this data does not change. Times are in
/// milliseconds since the start of the hour.
struct SeriesHour {
  ByteView order;         // value of Series::order
  uint32_t points = 0;    // number of raw points in the hour
  uint32_t first_ms = 0;  // time of the first raw point in the hour
  uint32_t last_ms = 0;
  std::span<const uint32_t> bucket_ms;  // start of each bucket
  std::span<const uint64_t> bits;       // value of each bucket, as the bits of a double
  std::span<const codec::Annotation> annotations;
};

/// The buckets of all series in one hour, in ascending order of Series::order.
class BucketHour {
 public:
  explicit BucketHour(uint32_t base) : base_(base) {}

  /// Adds a series. The Series::order of the new series must be greater than that of all series
  /// that were added before. The buckets of the new series are the elements [begin, end) of
  /// `columns`; the members bucket_ms and bits of `series` are ignored.
  void Add(const SeriesHour& series, const PointColumns& columns, size_t begin, size_t end);
  /// Frees unused capacity. Call this function once, after all series have been added.
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
    // Index in times_ of the first bucket start of the series. If the previous series has the same
    // bucket starts, both series share these elements of times_.
    uint32_t times_begin = 0;
    uint32_t bits_begin = 0, buckets = 0;
    uint32_t notes_begin = 0, notes = 0;
  };

  uint32_t base_;
  uint64_t points_ = 0;
  Bytes orders_;  // for each series: the length of its Series::order, then Series::order itself
  std::vector<Part> parts_;
  std::vector<uint32_t> times_;
  std::vector<uint64_t> bits_;
  std::vector<codec::Annotation> annotations_;
};

/// Records which rows of old hours a SeriesSet has read, and which buckets were computed from each
/// row. Not thread-safe.
class RowRecord {
 public:
  struct Row {
    uint32_t base = 0;
    uint32_t series = 0;  // index into SeriesSet::series(); valid after SeriesSet::Finish
    uint32_t points = 0, first_ms = 0, last_ms = 0;
    /// Range of the buckets of the row in Series::points.
    uint32_t buckets_begin = 0, buckets_end = 0;
    /// Range of the annotations of the row in Series::annotations.
    uint32_t notes_begin = 0, notes_end = 0;
  };

  /// Creates a record of the rows whose base is less than `end` (seconds). If there are more than
  /// `rows_max` rows, the recording stops.
  RowRecord(uint32_t end, size_t rows_max) : end_(end), rows_max_(rows_max) {}

  /// Returns whether the caller must record the row with Add. If the result is true, the caller
  /// must close the current bucket after this row, so that the next row starts a new bucket.
  bool Wants(const RowHour& row);
  void Add(const Row& row) { rows_.push_back(row); }
  /// Marks the hour with this base as not cacheable, because it has a row that belongs to no series
  /// of the set.
  void Spoil(uint32_t base) { spoiled_.insert(base); }
  /// Changes the series numbers of all recorded rows after the series were sorted. `places[i]` is
  /// the new index of the series that had the index i.
  void Renumber(std::span<const uint32_t> places);

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const std::set<uint32_t>& spoiled() const { return spoiled_; }
  /// Returns whether the recording stopped because there were too many rows.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  const uint32_t end_;
  const size_t rows_max_;
  bool gave_up_ = false;
  std::vector<Row> rows_;
  std::set<uint32_t> spoiled_;
};

}  // namespace hg::query
