#pragma once
// Implements the point store over any cell store, like OpenTSDB over HBase. Tests compare other
// engines with it. The only state outside of the cell store is the numbers of registered series.

#include <deque>
#include <functional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::points {

struct PointsOverCellsOptions {
  KeyLayout layout;
  std::string table = "tsdb";  // must have the family "t"
  bool use_otsdb_timestamp =
      false;  // tsd.storage.use_otsdb_timestamp: the cell time is the time of the point
  bool enable_appends =
      false;  // tsd.storage.enable_appends: points go to the append cell of their row
  /// Whether Append writes only the last of several points of one batch at the same time of a
  /// series. The cell times of a batch do not tell which of its points came later.
  bool last_of_time = false;
  /// Whether the store is on another machine, which then also selects the series of a scan. If so,
  /// Append waits for the network.
  bool remote = false;
  /// Returns the result of Append for an empty batch. If this function is empty, the result is ok.
  std::function<Status()> takes_writes = {};
};

/// Thread-safe. The store must outlive the object.
///
/// Append blocks like Mutate of the store. Append is atomic only for each row. A missing table is
/// reported as Unavailable. When Append returns, the points are as durable as the store's
/// acknowledgement, so Commit calls back at once. Points of one batch in one row have the same age,
/// which is relevant for duplicates (opentsdb-schema.md §9.4), unless last_of_time is set.
class PointsOverCells : public Points {
 public:
  PointsOverCells(Store* store, PointsOverCellsOptions options)
      : store_(store), options_(std::move(options)) {}

  [[nodiscard]] const KeyLayout& layout() const override { return options_.layout; }
  Result<SeriesNumber> Register(ByteView tsuid) override;
  Result<LogPosition> Append(std::span<const PointEntry> batch) override;
  void Commit(LogPosition position, std::function<void(Status)> done) override;
  /// Reads the salt buckets concurrently and merges their rows by key without salt, so rows ascend
  /// by metric, hour and tags. If an hour of a series exists with two salts, it is returned once.
  /// If both have a point at the same time, the point with the smaller salt is kept.
  Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                          const ReconcileOptions& options) override;
  Status DeleteRows(const PointScanSpec& spec) override;
  /// Finds the series by reading the keys of all rows of the metric, or of the whole table.
  Status ListSeries(ByteView metric, const SeriesMatcher& matcher, RequestContext* watch,
                    const std::function<bool(ByteView tsuid)>& visit) override;
  /// Finds the series by reading the keys of the metric's rows in `rows`, or of the whole table.
  /// Finds exactly the series with rows there.
  Status ListSeriesWithin(ByteView metric, const SeriesMatcher& matcher, const RowRange& rows,
                          RequestContext* watch,
                          const std::function<bool(ByteView tsuid)>& visit) override;
  void ListenForUnsettledRows(UnsettledRowListener listener) override {
    unsettled_ = std::move(listener);
  }
  /// Sets a listener that is called for each row that gets points, on the thread of the writer. The
  /// listener must be thread-safe. Call this function at most once, before the first write.
  void ListenForWrittenRows(std::function<void(ByteView key, uint32_t base)> listener) {
    written_ = std::move(listener);
  }

 private:
  Status CheckBatch(std::span<const PointEntry> batch) const;
  Status AppendOperands(std::span<const PointEntry> batch);
  Status PutPoints(std::span<const PointEntry> batch);
  Bytes RowKeyOf(const PointEntry& entry) const;

  Store* const store_;
  const PointsOverCellsOptions options_;
  UnsettledRowListener unsettled_;                            // set before the first scan
  std::function<void(ByteView key, uint32_t base)> written_;  // set before the first write

  mutable std::shared_mutex mutex_;
  std::deque<Bytes> tsuids_;                            // by number; guarded by mutex_
  std::unordered_map<ByteView, SeriesNumber> numbers_;  // key: a view of tsuids_; guarded by mutex_
};

/// Returns the scans of an OpenTSDB query for one metric: row bases [begin, end) in every salt
/// bucket, in the order of the salts (opentsdb-schema.md §16.1).
std::vector<ScanSpec> BucketScans(const KeyLayout& layout, const std::string& table,
                                  ByteView metric, const RowRange& rows, size_t batch_rows);

}  // namespace hg::points
