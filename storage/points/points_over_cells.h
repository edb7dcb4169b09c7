#pragma once
// The points door over any cells door, through the codec: what OpenTSDB does over HBase. The oracle
// of the points door in the tests. It keeps no state but the numbers of the series it was told of.

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
  std::string table = "tsdb";        // has family "t"
  bool use_otsdb_timestamp = false;  // tsd.storage.use_otsdb_timestamp: cell time = data time
  bool enable_appends =
      false;  // tsd.storage.enable_appends: points go to the append cell of their row
  /// The store is on another machine: it looks for series itself. (Append waits for it.)
  bool remote = false;
  /// What a batch of nothing is answered with. May be empty: with ok.
  std::function<Status()> takes_writes = {};
};

/// Thread-safe. The store outlives it.
///
/// Append blocks as the store's Mutate does, and is all or nothing per row only. Unavailable: also
/// where the table is missing. A point is as
/// durable as the store's acknowledgement when Append returns, so Commit calls back at once. Points
/// of one batch and row are as old as each other (spec schema.md §9.4).
class PointsOverCells : public Points {
 public:
  PointsOverCells(Store* store, PointsOverCellsOptions options)
      : store_(store), options_(std::move(options)) {}

  [[nodiscard]] const KeyLayout& layout() const override { return options_.layout; }
  Result<SeriesNumber> Register(ByteView tsuid) override;
  Result<LogPosition> Append(std::span<const PointEntry> batch) override;
  void Commit(LogPosition position, std::function<void(Status)> done) override;
  /// The salt buckets are read side by side and joined by key without salt, so that the rows ascend
  /// by metric, hour, tags. An hour of a series under two salts is given once; of equal instants
  /// the copy with the smaller salt stays.
  Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                          const ReconcileOptions& options) override;
  Status DeleteRows(const PointScanSpec& spec) override;
  /// Reads the keys of all rows of the metric (or of the table).
  Status ListSeries(ByteView metric, const SeriesMatcher& matcher,
                    const std::function<bool(ByteView tsuid)>& visit) override;
  void ListenForUnsettledRows(UnsettledRowListener listener) override {
    unsettled_ = std::move(listener);
  }
  /// Told of each row that points were put into, on the writer's thread; thread-safe. At most once,
  /// before the first write.
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
  std::unordered_map<ByteView, SeriesNumber> numbers_;  // keys live in tsuids_; guarded by mutex_
};

/// The scans of OpenTSDB's query over one metric: [begin, end) of row bases in every salt bucket,
/// in order of salt (spec schema.md §16.1).
std::vector<ScanSpec> BucketScans(const KeyLayout& layout, const std::string& table,
                                  ByteView metric, const RowRange& rows, size_t batch_rows);

}  // namespace hg::points
