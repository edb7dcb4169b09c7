#pragma once
// The series of one sub-query, filled from a scan: points in columns, or buckets when the sub-query
// downsamples, so that raw points are not kept.

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "query/answer.h"
#include "query/bucket_hour.h"
#include "query/downsample.h"
#include "query/extreme_fold.h"
#include "query/histogram.h"
#include "query/limits.h"
#include "query/series_filter.h"
#include "query/value_filter.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "storage/codec/annotation.h"
#include "storage/points/points.h"
#include "storage/points/series_again.h"

namespace hg::query {

/// One series of the answer.
struct Series {
  Bytes order;  // salt ‖ pairs: how series and outputs are sorted (spec query.md §9.3); with a part
                // of the hour between them where that tells series apart (SeriesSet::HourPart)
  Bytes tsuid;  // metric ‖ pairs
  uint64_t raw_points = 0;
  int64_t first_point_ms = 0;  // of the raw points
  int64_t last_point_ms = 0;
  PointColumns points;  // after Finish: raw points or buckets
  std::vector<codec::Annotation> annotations;
  HistogramColumn histograms;  // if they are wanted, instead of points
};

/// By Series::order.
void SortSeries(std::vector<Series>* series);

/// One thread at a time.
class SeriesSet {
 public:
  /// `grid` null = raw points; `filter` null = every series that the scan gives is wanted. All
  /// outlive the set; what it holds is charged to `watch`.
  SeriesSet(const KeyLayout& layout, const BucketGrid* grid, SeriesFilter* filter, WorkWatch* watch)
      : layout_(layout), grid_(grid), filter_(filter), memory_(watch) {}

  /// Before Read: histograms are taken instead of points.
  void WantHistograms() { histograms_ = true; }
  /// Before Read: other points are left out. The filter outlives the set.
  void WantValues(const ValueFilter* values) { values_ = values; }
  /// Before Read, if there is a grid of fixed buckets that divide an hour, and nobody fills them:
  /// rows that the record wants are put down in it. It outlives the set.
  void Record(RowRecord* record) { record_ = record; }
  /// Before Read: ends it with Conflict at a row that is not its series' only one of an hour (its
  /// base is no hour's begin, or its salt is another series'). Hours that stand each for itself
  /// cannot be put together then.
  void RefuseStrayRows() { refuses_stray_ = true; }
  /// Before Read: sums of rows may be added as they are, though that may round them otherwise than
  /// adding their points one by one.
  void AllowAnyOrder() { any_order_ = true; }
  /// Before Read of a scan that gives series again, if there is a grid of fixed buckets that divide
  /// an hour, filled by nobody: series without a gap go to the fold instead of having buckets. Read
  /// and Finish end with Conflict at a bucket of -0.0. It outlives the set.
  void FoldInto(ExtremeFold* fold) { fold_ = fold; }
  /// Reads the scan to its end. A row with a damaged annotation fails, as does what the counter or
  /// the watch says.
  Status Read(PointScan* scan, LimitCounter* counter);
  /// Closes the buckets and sorts the series. Once, after Read.
  Status Finish();

  [[nodiscard]] std::vector<Series>& series() { return series_; }
  /// Rows and points of series that the filter admits.
  [[nodiscard]] uint64_t rows_admitted() const { return rows_admitted_; }
  [[nodiscard]] uint64_t points_admitted() const { return points_admitted_; }
  /// Of these rows those that the fold did not need.
  [[nodiscard]] uint64_t rows_spared() const { return rows_spared_; }

 private:
  static constexpr size_t kRefused = SIZE_MAX;  // a series the filter does not admit

  struct Seen {
    Bytes identity;           // TSUID ‖ HourPart; empty: the TSUID of the series
    size_t index = kRefused;  // in series_
  };
  [[nodiscard]] ByteView IdentityOf(const Seen& seen) const {
    return seen.identity.empty() ? series_[seen.index].tsuid : seen.identity;
  }

  /// The series at hand, where there is a fold.
  struct Folding {
    size_t series = kRefused;
    bool alone = false;   // it has a gap
    size_t rows = 0;      // that came
    size_t spared = 0;    // of them
    int64_t next_ms = 0;  // the bucket that follows
  };

  /// What of a row's time tells its series from others: nothing, but for histograms in salted
  /// tables the last bytes of the base, as many as the salt has. OpenTSDB sorts those rows into
  /// spans by a comparison that leaves out four bytes behind as many as a metric has (TsdbQuery's
  /// SpanCmp), where it forgets the salt in front: hours of one series whose base times differ in
  /// their last bytes are answered as series of their own.
  [[nodiscard]] ByteView HourPart(const RowHour& row) const;
  [[nodiscard]] bool IsStray(const RowHour& row);
  Result<size_t> IndexOf(const RowHour& row);
  /// Of a series in seen_, or its end.
  size_t PositionOf(ByteView identity);
  /// Leaves the points whose values are wanted.
  Status FilterValues(PointScan* scan, RowHour* row);
  /// True: nothing else is to be done with the row. False: it is its series' own.
  Result<bool> Fold(PointScan* scan, SeriesAgain* again, RowHour* row, size_t index);
  /// The buckets of a row. Conflict: -0.0.
  Status BucketsOf(const RowHour& row, PointColumns* buckets);
  /// The series at hand stands alone, with all of its rows.
  bool FoldNoMore(SeriesAgain* again);
  /// False: its points are needed.
  Result<bool> AddStatistics(const RowHour& row, size_t index);
  /// The hours that follow such a row, as far as their statistics do.
  Status AddHours(HoursAhead* ahead, LimitCounter* counter, size_t index);
  Status AddPoints(const RowHour& row, size_t index);
  Status Downsample(const RowHour& row, Downsampler* downsampler);
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
  RowRecord::Row recorded_;              // of the row at hand
  ExtremeFold* fold_ = nullptr;          // null = every series has its own buckets
  Folding folding_;
  size_t rows_again_ = 0;  // to come that were counted
  uint64_t rows_admitted_ = 0, points_admitted_ = 0, rows_spared_ = 0;
  std::vector<Seen> seen_;                       // in order of appearance
  bool rising_ = true;                           // which is that of their identities
  std::unordered_map<Bytes, size_t> positions_;  // else: in seen_, by identity
  size_t position_ = 0;                          // of the last row's series
  Bytes identity_, regular_key_;                 // scratch
  std::vector<Series> series_;
  std::vector<Downsampler> downsamplers_;  // beside series_, if there is a grid
  std::vector<double> doubles_;            // scratch
  PointColumns buckets_;                   // scratch
  KeptPoints kept_;                        // scratch
};

}  // namespace hg::query
