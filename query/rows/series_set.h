#pragma once
// Collects the series of one sub-query from a scan. The set holds points in columns. If the
// sub-query downsamples, it holds buckets instead, so that raw points need not be kept.

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "query/buckets/downsample.h"
#include "query/buckets/histogram.h"
#include "query/plan/value_filter.h"
#include "query/request/answer.h"
#include "query/request/limits.h"
#include "query/rows/bucket_hour.h"
#include "query/rows/extreme_fold.h"
#include "query/series/series_filter.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/codec/annotation.h"
#include "storage/points/points.h"

namespace hg::query {

/// One series of the result.
struct Series {
  /// The sort key of series and outputs: the salt, then SeriesSet::HourPart if it is not empty,
  /// then the tag ids (opentsdb-queries.md §9.3).
  Bytes order;
  Bytes tsuid;  // metric ‖ pairs
  uint64_t raw_points = 0;
  int64_t first_point_ms = 0;  // time of the first raw point
  int64_t last_point_ms = 0;
  PointColumns points;  // raw points or buckets; complete after SeriesSet::Finish
  std::vector<codec::Annotation> annotations;
  HistogramColumn histograms;  // filled instead of `points` if histograms are requested
};

/// Sorts by Series::order.
void SortSeries(std::vector<Series>* series);

/// Not thread-safe.
class SeriesSet {
 public:
  /// If `grid` is null, raw points are collected. If `filter` is null, every scanned series is
  /// collected. All arguments must outlive the set. Memory is charged to `watch`.
  SeriesSet(const KeyLayout& layout, const BucketGrid* grid, SeriesFilter* filter,
            RequestContext* watch)
      : layout_(layout), grid_(grid), filter_(filter), memory_(watch) {}

  /// Call this function before Read. The set then collects histograms instead of points.
  void WantHistograms() { histograms_ = true; }
  /// Call this function before Read. The set then leaves out points that `values` does not admit.
  /// `values` must outlive the set.
  void WantValues(const ValueFilter* values) { values_ = values; }
  /// Call this function before Read. The set then records the rows that `record` wants. Needs a
  /// grid of fixed buckets that divide an hour, and no fill policy. `record` must outlive the set.
  void Record(RowRecord* record) { record_ = record; }
  /// Call this function before Read. Read then fails with Conflict at a row whose base is not the
  /// begin of an hour, or whose salt is not the salt of its series. Such rows cannot be combined
  /// with cached hours.
  void RefuseStrayRows() { refuses_stray_ = true; }
  /// Call this function before Read. The set may then add the sums of rows, even if the result is
  /// rounded differently than when it adds their points one by one.
  void AllowAnyOrder() { any_order_ = true; }
  /// Call this function before Read. The set then adds series without a gap between buckets to
  /// `fold`, and does not collect them. Needs a scan that repeats series
  /// (PointScan::RepeatsSeries), and a grid of fixed buckets that divide an hour, without a fill
  /// policy. Read and Finish fail with Conflict at a bucket of -0.0. `fold` must outlive the set.
  void FoldInto(ExtremeFold* fold) { fold_ = fold; }
  /// Reads the scan to its end. Fails on a damaged annotation, and with errors of `counter` and of
  /// the request context.
  Status Read(PointScan* scan, LimitCounter* counter);
  /// Closes the last buckets and sorts the series. Call this function once, after Read.
  Status Finish();

  [[nodiscard]] std::vector<Series>& series() { return series_; }
  /// Return the number of rows and of points of the series that the filter admits.
  [[nodiscard]] uint64_t rows_admitted() const { return rows_admitted_; }
  [[nodiscard]] uint64_t points_admitted() const { return points_admitted_; }
  /// Returns how many of rows_admitted() were not read because ExtremeFold did not need them.
  [[nodiscard]] uint64_t rows_spared() const { return rows_spared_; }

 private:
  static constexpr size_t kRefused = SIZE_MAX;  // a series that the filter does not admit

  struct Seen {
    Bytes identity;           // TSUID ‖ HourPart; empty: it is the TSUID of series_[index]
    size_t index = kRefused;  // index in series_
  };
  [[nodiscard]] ByteView IdentityOf(const Seen& seen) const {
    return seen.identity.empty() ? series_[seen.index].tsuid : seen.identity;
  }

  /// The state of the series that is being read. Used only if there is an ExtremeFold.
  struct Folding {
    size_t series = kRefused;
    bool alone = false;   // whether a gap between buckets prevents the use of fold_
    size_t rows = 0;      // rows read so far
    size_t spared = 0;    // number of these rows that ExtremeFold did not need
    int64_t next_ms = 0;  // start of the bucket after the last bucket
  };

  /// Returns the part of a row's time that distinguishes series. For histograms in salted tables,
  /// this part consists of the last bytes of the base, as many bytes as the salt has. In all other
  /// cases the part is empty. OpenTSDB compares the keys of these rows as if they had no salt in
  /// front (SpanCmp of TsdbQuery), so it skips the wrong bytes. Therefore hours of one series whose
  /// bases differ in their last bytes are separate series in the response.
  [[nodiscard]] ByteView HourPart(const RowHour& row) const;
  [[nodiscard]] bool IsStray(const RowHour& row);
  Result<size_t> IndexOf(const RowHour& row);
  /// Returns the index of a series in seen_, or the size of seen_ if the series is not in seen_.
  size_t PositionOf(ByteView identity);
  /// Removes the points whose values the value filter does not admit.
  Status FilterValues(PointScan* scan, RowHour* row);
  /// Tries to add the row to ExtremeFold. Returns true if the row was added or is not needed.
  /// Returns false if the caller must add it to its series.
  Result<bool> Fold(PointScan* scan, RowHour* row, size_t index);
  /// Computes the buckets of a row. Conflict: a bucket is -0.0.
  Status BucketsOf(const RowHour& row, PointColumns* buckets);
  /// Stops adding the current series to ExtremeFold, and makes the scan return all rows of this
  /// series again.
  bool FoldNoMore(PointScan* scan);
  /// Adds a row by its statistics. Returns false if the points of the row are needed.
  Result<bool> AddStatistics(const RowHour& row, size_t index);
  /// Call this function after AddStatistics has added a row. Adds the following hours of the
  /// series, up to the first one whose points are needed.
  Status AddHours(PointScan* scan, LimitCounter* counter, size_t index);
  Status AddPoints(const RowHour& row, size_t index);
  Status Downsample(const RowHour& row, Downsampler* downsampler);
  /// Reports the work of computing calendar buckets to the request context.
  Status StepOverCalendar(Downsampler* downsampler);
  Status MakeRoom(size_t points, PointColumns* columns);
  Status AddObjects(const RowHour& row, Series* series);
  Status AddHistogram(const RowHour& row, const Cell& cell, Series* series);
  void BeginRecord(const RowHour& row, size_t index);
  Status EndRecord(size_t index);
  Status TakeBuckets(size_t index);
  void RenumberRecord();

  const KeyLayout& layout_;
  const BucketGrid* grid_;
  SeriesFilter* filter_;
  MemoryTally memory_;
  bool histograms_ = false;
  bool any_order_ = false;
  bool refuses_stray_ = false;
  const ValueFilter* values_ = nullptr;  // null = all
  RowRecord* record_ = nullptr;          // null = nothing is recorded
  RowRecord::Row recorded_;              // the row that is being read now
  ExtremeFold* fold_ = nullptr;          // null = every series has its own buckets
  Folding folding_;
  size_t rows_again_ = 0;  // rows, already counted, that the scan will return again
  uint64_t rows_admitted_ = 0, points_admitted_ = 0, rows_spared_ = 0;
  std::vector<Seen> seen_;  // in the order in which they appeared
  bool rising_ = true;      // whether seen_ is in ascending order of identity
  // For each identity, its index in seen_. Used if seen_ is not in ascending order.
  std::unordered_map<Bytes, size_t> positions_;
  size_t position_ = 0;           // index in seen_ of the series that the last row has
  Bytes identity_, regular_key_;  // working memory
  std::vector<Series> series_;
  std::vector<Downsampler> downsamplers_;  // same indexes as series_; empty without a grid
  std::vector<double> doubles_;            // working memory
  PointColumns buckets_;                   // working memory
  KeptPoints kept_;                        // working memory
};

}  // namespace hg::query
