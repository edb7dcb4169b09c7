#pragma once
// Collects the series of one sub-query from a scan. The points of each series are stored in
// columns. If the sub-query downsamples, buckets are stored instead of raw points.

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
#include "storage/base/keyed_hash.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/codec/annotation.h"
#include "storage/points/points.h"

namespace hg::query {

/// One series that a sub-query has read.
struct Series {
  /// The key by which series and outputs are sorted. It consists of the salt, then
  /// SeriesSet::HourPart if that is not empty, then the tag ids (opentsdb-queries.md §9.3).
  Bytes order;
  Bytes tsuid;  // id of the metric, followed by the pairs of tag ids
  uint64_t raw_points = 0;
  int64_t first_point_ms = 0;  // time of the first raw point, in milliseconds since the epoch
  int64_t last_point_ms = 0;
  PointColumns points;  // raw points or buckets; complete after SeriesSet::Finish
  std::vector<codec::Annotation> annotations;
  HistogramColumn histograms;  // filled instead of `points` if histograms are requested
};

/// Sorts the series by Series::order. Charges working memory to `memory`, and returns its errors.
Status SortSeries(std::vector<Series>* series, MemoryTally* memory);

/// The series of a sub-query while they are being read. Not thread-safe.
class SeriesSet {
 public:
  /// If `grid` is null, the set collects raw points; otherwise it collects the buckets of this
  /// grid. If `filter` is null, the set collects every scanned series. All arguments must outlive
  /// the set. The set charges its memory to `watch`.
  SeriesSet(const KeyLayout& layout, const BucketGrid* grid, SeriesFilter* filter,
            RequestContext* watch)
      : layout_(layout), grid_(grid), filter_(filter), memory_(watch) {}

  /// Makes the set collect histograms instead of points. Call this function before Read.
  void WantHistograms() { histograms_ = true; }
  /// Makes the set leave out the points that `values` rejects. Call this function before Read.
  /// `values` must outlive the set.
  void WantValues(const ValueFilter* values) { values_ = values; }
  /// Makes the set add rows to `record`, if record->Wants returns true for the row. Call this
  /// function before Read. The set needs a grid of fixed buckets whose length divides an hour,
  /// without a fill policy. `record` must outlive the set.
  void Record(RowRecord* record) { record_ = record; }
  /// Makes Read fail with Conflict at a row whose base is not the start of an hour, or whose salt
  /// is not the salt of its series. Such rows cannot be combined with cached hours. Call this
  /// function before Read.
  void RefuseStrayRows() { refuses_stray_ = true; }
  /// Allows the set to add up the sums in the statistics of rows, even if the result is rounded
  /// differently than a sum of the single points. Call this function before Read.
  void AllowAnyOrder() { any_order_ = true; }
  /// Makes the set add the buckets of series without gaps to `fold`, instead of collecting these
  /// series. Call this function before Read. The scan must be able to repeat series
  /// (PointScan::RepeatsSeries). The set needs a grid of fixed buckets whose length divides an
  /// hour, without a fill policy. Read and Finish fail with Conflict at a bucket of -0.0. `fold`
  /// must outlive the set.
  void FoldInto(ExtremeFold* fold) { fold_ = fold; }
  /// Reads all rows of `scan`, and counts each of them with `counter`. Fails if an annotation or a
  /// histogram is damaged. Also returns the errors of `scan`, of `counter` and of the request
  /// context.
  Status Read(PointScan* scan, LimitCounter* counter);
  /// Computes the last bucket of each series, and sorts the series. Call this function once, after
  /// Read.
  Status Finish();

  [[nodiscard]] std::vector<Series>& series() { return series_; }
  /// rows_admitted returns the number of rows that were read of the series that the filter accepts.
  /// points_admitted returns the number of points of these rows.
  [[nodiscard]] uint64_t rows_admitted() const { return rows_admitted_; }
  [[nodiscard]] uint64_t points_admitted() const { return points_admitted_; }
  /// Returns the number of rows of accepted series whose points were not read, because ExtremeFold
  /// did not need them. These rows are included in rows_admitted().
  [[nodiscard]] uint64_t rows_spared() const { return rows_spared_; }

 private:
  /// Value of Seen::index for a series that the filter rejects.
  static constexpr size_t kRefused = SIZE_MAX;

  struct Seen {
    Bytes identity;           // TSUID followed by HourPart(); "" = same as series_[index].tsuid
    size_t index = kRefused;  // index of the series in series_, or kRefused
  };
  [[nodiscard]] ByteView IdentityOf(const Seen& seen) const {
    return seen.identity.empty() ? series_[seen.index].tsuid : seen.identity;
  }

  /// The state of the series that is being read. Used only if the set adds series to an
  /// ExtremeFold.
  struct Folding {
    size_t series = kRefused;
    // Whether the set collects the buckets of the series instead of adding them to fold_. This is
    // necessary if the series has a gap between buckets.
    bool alone = false;
    size_t rows = 0;    // number of rows of the series that were read so far
    size_t spared = 0;  // number of these rows whose points ExtremeFold did not need
    /// End of the last bucket of the series, in milliseconds; without a gap, the next bucket starts
    /// here.
    int64_t next_ms = 0;
  };

  /// Returns those bytes of the base time of a row that are part of the identity of a series. For
  /// histograms in salted tables, these are the last bytes of the base: as many bytes as the salt
  /// has. In all other cases, the result is empty.
  ///
  /// The reason is a fault of OpenTSDB. When it compares the keys of rows with histograms, it
  /// assumes that the keys have no salt in front (SpanCmp of TsdbQuery), so it skips the wrong
  /// bytes. Therefore, hours of one series whose bases differ in these last bytes are separate
  /// series in the response.
  [[nodiscard]] ByteView HourPart(const RowHour& row) const;
  [[nodiscard]] bool IsStray(const RowHour& row);
  Result<size_t> IndexOf(const RowHour& row);
  /// Returns the index in seen_ of the series with this identity, or the size of seen_ if seen_
  /// does not contain the series.
  size_t PositionOf(ByteView identity);
  /// Removes the points of the row whose values the value filter rejects.
  Status FilterValues(PointScan* scan, RowHour* row);
  /// Tries to add the row to fold_. Returns true if fold_ has the buckets of the row or does not
  /// need them. Returns false if the caller must add the row to its series.
  Result<bool> Fold(PointScan* scan, RowHour* row, size_t index);
  /// Computes the buckets of a row. Returns Conflict if the value of a bucket is -0.0.
  Status BucketsOf(const RowHour& row, PointColumns* buckets);
  /// Makes the set collect the current series instead of adding it to fold_. Also makes the scan
  /// return all rows of this series again.
  bool FoldNoMore(PointScan* scan);
  /// Adds a row by its statistics. Returns false if the points of the row are needed.
  Result<bool> AddStatistics(const RowHour& row, size_t index);
  /// Adds the hours of the series that follow the current row, by their statistics, up to the first
  /// hour whose points are needed. Call this function after AddStatistics has added the current
  /// row.
  Status AddHours(PointScan* scan, LimitCounter* counter, size_t index);
  Status AddPoints(const RowHour& row, size_t index);
  Status Downsample(const RowHour& row, Downsampler* downsampler);
  /// Charges the work of computing calendar buckets to the request context.
  Status StepOverCalendar(Downsampler* downsampler);
  Status MakeRoom(size_t points, PointColumns* columns);
  Status AddObjects(const RowHour& row, Series* series);
  Status AddHistogram(const RowHour& row, const Cell& cell, Series* series);
  void BeginRecord(const RowHour& row, size_t index);
  Status EndRecord(size_t index);
  Status TakeBuckets(size_t index);
  Status RenumberRecord();

  const KeyLayout& layout_;
  const BucketGrid* grid_;
  SeriesFilter* filter_;
  MemoryTally memory_;
  bool histograms_ = false;
  bool any_order_ = false;
  bool refuses_stray_ = false;
  const ValueFilter* values_ = nullptr;  // null = the set accepts all values
  RowRecord* record_ = nullptr;          // null = the set records nothing
  RowRecord::Row recorded_;              // the row that is being read now
  ExtremeFold* fold_ = nullptr;          // null = the set stores the buckets of every series
  Folding folding_;
  size_t rows_again_ = 0;  // number of rows, already counted, that the scan will return again
  uint64_t rows_admitted_ = 0, points_admitted_ = 0, rows_spared_ = 0;
  std::vector<Seen> seen_;  // all series, in the order in which the scan returned them
  bool rising_ = true;      // whether the identities in seen_ are in ascending order
  // The index in seen_ of each identity. Used only if the identities in seen_ are not in ascending
  // order.
  std::unordered_map<Bytes, size_t, keyed_hash::Hash, std::equal_to<>> positions_;
  size_t position_ = 0;           // index in seen_ of the series of the last row
  Bytes identity_, regular_key_;  // working memory
  std::vector<Series> series_;
  std::vector<Downsampler> downsamplers_;  // one for each element of series_; empty without a grid
  std::vector<double> doubles_;            // working memory
  PointColumns buckets_;                   // working memory
  KeptPoints kept_;                        // working memory
};

}  // namespace hg::query
