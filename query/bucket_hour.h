#pragma once
// The buckets of one hour, of all series of a sub-query: what downsampling makes of their rows,
// before anything is filled, interpolated or grouped. Kept by bucket_cache for the next one that
// asks.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "query/answer.h"
#include "storage/base/bytes.h"
#include "storage/codec/annotation.h"
#include "storage/points/points.h"

namespace hg::query {

/// What it holds in memory, itself included.
int64_t MemoryBytes(const codec::Annotation& annotation);

/// One series in one hour, borrowed. Times are milliseconds from the hour's begin.
struct SeriesHour {
  ByteView order;         // Series::order
  uint32_t points = 0;    // raw ones
  uint32_t first_ms = 0;  // of these
  uint32_t last_ms = 0;
  std::span<const uint32_t> bucket_ms;  // starts
  std::span<const uint64_t> bits;       // of doubles
  std::span<const codec::Annotation> annotations;
};

/// A value; series ascend by their order.
class BucketHour {
 public:
  explicit BucketHour(uint32_t base) : base_(base) {}

  /// Of a series behind all others: buckets [begin, end) of its columns.
  void Add(const SeriesHour& series, const PointColumns& columns, size_t begin, size_t end);
  /// When all are there.
  void ShrinkToFit();

  [[nodiscard]] uint32_t base() const { return base_; }
  [[nodiscard]] size_t size() const { return parts_.size(); }
  [[nodiscard]] SeriesHour at(size_t i) const;
  [[nodiscard]] bool HasSeriesOf(const BucketHour& other) const { return orders_ == other.orders_; }
  [[nodiscard]] uint64_t points() const { return points_; }
  /// Of memory.
  [[nodiscard]] int64_t bytes() const;

 private:
  struct Part {
    uint32_t order_begin = 0, order_size = 0;
    uint32_t points = 0, first_ms = 0, last_ms = 0;
    uint32_t times_begin = 0;  // mostly those of the part before
    uint32_t bits_begin = 0, buckets = 0;
    uint32_t notes_begin = 0, notes = 0;
  };

  uint32_t base_;
  uint64_t points_ = 0;
  Bytes orders_;  // each behind its length
  std::vector<Part> parts_;
  std::vector<uint32_t> times_;
  std::vector<uint64_t> bits_;
  std::vector<codec::Annotation> annotations_;
};

/// The rows of old hours that a SeriesSet met, and what they came to there. One thread at a time.
class RowRecord {
 public:
  struct Row {
    uint32_t base = 0;
    uint32_t series = 0;  // in SeriesSet::series(), when that is finished
    uint32_t points = 0, first_ms = 0, last_ms = 0;
    uint32_t buckets_begin = 0, buckets_end = 0;  // of the series' columns
    uint32_t notes_begin = 0, notes_end = 0;      // of its annotations
  };

  /// Of rows below `end`; gives up if there are more than so many.
  RowRecord(uint32_t end, size_t rows_max) : end_(end), rows_max_(rows_max) {}

  /// Whether the row is to be added; then the next one begins another bucket.
  bool Wants(const RowHour& row);
  void Add(const Row& row) { rows_.push_back(row); }
  /// The hour holds a row that is no series' of the set.
  void Spoil(uint32_t base) { spoiled_.insert(base); }
  /// `places`: of series, from where they were to where they are now.
  void Renumber(std::span<const uint32_t> places);

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const std::set<uint32_t>& spoiled() const { return spoiled_; }
  /// What it has is not all.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  const uint32_t end_;
  const size_t rows_max_;
  bool gave_up_ = false;
  std::vector<Row> rows_;
  std::set<uint32_t> spoiled_;
};

}  // namespace hg::query
