#pragma once
// Implements the point store over any cell store, as OpenTSDB does over HBase. Tests compare other
// engines with this implementation. Its only state outside of the cell store is the numbers of
// registered series.

#include <deque>
#include <functional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "storage/base/keyed_hash.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::points {

struct PointsOverCellsOptions {
  KeyLayout layout;
  std::string table = "tsdb";  // the table must have the family "t"
  // The setting tsd.storage.use_otsdb_timestamp: whether the cell time is the time of the point.
  bool use_otsdb_timestamp = false;
  // The setting tsd.storage.enable_appends: whether points go to the append cell of their row.
  bool enable_appends = false;
  /// Whether Append writes only the last of several points of one batch with the same series and
  /// time. The cell times of a batch do not tell which of its points came later.
  bool last_of_time = false;
  /// Whether the cell store is on another machine. If true, a scan passes its conditions on series
  /// to the cell store, which then returns only matching rows. Append waits for the network.
  bool remote = false;
  /// A function that returns the result of Append for an empty batch. If the function is empty, the
  /// result is ok.
  std::function<Status()> takes_writes = {};
};

/// A point store over a cell store. Thread-safe. The cell store must outlive the object.
///
/// Append blocks as MutateRows of the cell store does. Append is atomic only for each row. If the
/// table does not exist, Append returns Unavailable. When Append returns, the points are as durable
/// as any write that the cell store acknowledges, so Commit calls `done` at once. Points of one
/// batch in one row have the same age, unless last_of_time is set. The age matters for duplicates
/// (opentsdb-schema.md §9.4).
class PointsOverCells : public Points {
 public:
  PointsOverCells(Store* store, PointsOverCellsOptions options)
      : store_(store), options_(std::move(options)) {}

  [[nodiscard]] const KeyLayout& layout() const override { return options_.layout; }
  Result<SeriesNumber> Register(ByteView tsuid) override;
  Result<LogPosition> Append(std::span<const PointEntry> batch) override;
  void Commit(LogPosition position, std::function<void(Status)> done) override;
  /// Reads the salt buckets concurrently and merges their rows by key without salt. Therefore the
  /// rows are in ascending order of metric, hour and tags. If an hour of a series exists with two
  /// salts, it is returned once. If both rows have a point at the same time, the point with the
  /// smaller salt is kept.
  Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                          const ReconcileOptions& options) override;
  Status DeleteRows(const PointScanSpec& spec) override;
  /// Finds the series by reading the keys of all rows of the metric. If `metric` is "", reads the
  /// keys of the whole table.
  Status ListSeries(ByteView metric, const SeriesMatcher& matcher, RequestContext* watch,
                    const std::function<bool(ByteView tsuid)>& visit) override;
  /// Finds the series by reading the keys of those rows of the metric that are in `rows`, or the
  /// keys of the whole table. The result is exactly the series with rows in `rows`.
  Status ListSeriesWithin(ByteView metric, const SeriesMatcher& matcher, const RowRange& rows,
                          RequestContext* watch,
                          const std::function<bool(ByteView tsuid)>& visit) override;
  void ListenForUnsettledRows(UnsettledRowListener listener) override {
    unsettled_ = std::move(listener);
  }
  /// Sets a listener. It is called for each row that gets points, on the thread of the writer. The
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
  std::deque<Bytes> tsuids_;  // index: series number; guarded by mutex_
  std::unordered_map<ByteView, SeriesNumber, keyed_hash::Hash>
      numbers_;  // key: a view of tsuids_; guarded by mutex_
};

/// Returns the scans of an OpenTSDB query for one metric. There is one scan for each salt bucket,
/// in the order of the salts. Each scan covers the rows with base times in `rows`
/// (opentsdb-schema.md §16.1).
std::vector<ScanSpec> BucketScans(const KeyLayout& layout, const std::string& table,
                                  ByteView metric, const RowRange& rows, size_t batch_rows);
/// Returns the scans with the context of the request (CellSelection::context), and with fetches
/// that end at some 256 KiB. Fetches are limited because each of the scans holds a fetch in memory
/// at the same time.
std::vector<ScanSpec> BoundedBy(RequestContext* context, std::vector<ScanSpec> scans);

}  // namespace hg::points
