#pragma once
// Lists the row keys of a table in order. The keys come from memory and files.

#include <memory>
#include <utility>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/engine/engine.h"
#include "storage/lsm/row_source.h"

namespace hg::engine {

/// The UIDs of metrics, ascending. A scan lists the metrics once, so that the cost of each piece of
/// a scan does not depend on the number of metrics. Null means that no points are read.
using MetricList = std::shared_ptr<const std::vector<Bytes>>;

/// Returns the metrics that a scan of `family` of the table must visit, or null if it needs no
/// points. Charges the memory of the list to `memory`. Returns the errors of its context.
Result<MetricList> ListMetrics(const Engine& engine, const Table& table, ByteView family,
                               MemoryTally* memory);

/// Returns the keys in [start, stop) of those regular rows of a points table that may have points,
/// in ascending order. Use the object on one thread at a time. The object lists the rows of one
/// metric and a time range in one step, so rows that are added after the step are not found. A step
/// lists about 65,536 rows, or four rows per series of the metric if that is more. Metrics that can
/// have no keys in [start, stop) cost nothing.
class PointKeys {
 public:
  /// Lists only rows of `metrics`, which is not null. `engine` and `context` must outlive the
  /// object. If `context` is null, there are no limits.
  PointKeys(const Engine& engine, std::shared_ptr<const Version> version, MetricList metrics,
            Bytes start, Bytes stop, RequestContext* context);

  /// Moves to the next key and sets *key. Returns false if there are no more keys. Returns the
  /// errors of the context.
  Result<bool> Next(Bytes* key);
  /// Moves to the first key ≥ start. `start` must not be before the last returned key.
  void Seek(Bytes start) { start_ = std::move(start); }

 private:
  struct Place {
    uint32_t base;
    uint32_t order;  // index of the series in series_
  };
  Status BeginMetric(uint64_t salt, const Bytes& metric, const Bytes& prefix);
  Status ListStretch();
  Status AddPlaces(uint32_t order, const std::vector<uint32_t>& bases);
  Result<uint64_t> CutInHalf();

  const Engine& engine_;
  const std::shared_ptr<const Version> version_;
  Bytes start_;
  const Bytes stop_;
  const MetricList metrics_;
  std::pair<uint64_t, size_t> next_{0, 0};  // the salt and the index of the metric that come next
  // The following members hold the state for the current metric.
  std::vector<uint32_t> series_;              // series with the current salt, ordered by TSUID
  std::shared_ptr<const TsuidTable> tsuids_;  // contains the TSUIDs of series_
  RowRange rest_{0, 0};                       // base times that were not listed yet
  std::vector<Place> places_;                 // listed rows, ordered by key
  size_t at_ = 0;
  MemoryTally memory_;
};

/// Returns the keys of a table's rows in [start, stop), in ascending order. Rows without cells of
/// `family`, and rows whose newest cell is older than `min_ms`, may be left out. Not thread-safe.
/// The engine must outlive the object.
class TableKeys {
 public:
  /// `metrics` is the result of ListMetrics for this table and family. `context` must outlive the
  /// object. If `context` is null, there are no limits.
  TableKeys(const Engine& engine, const Table& table, std::shared_ptr<const Version> version,
            MetricList metrics, Bytes start, Bytes stop, ByteView family, int64_t min_ms,
            lsm::CacheUse use, RequestContext* context);

  /// Moves to the next key. Returns false if there are no more keys.
  Result<bool> Next();
  /// Moves to the first key ≥ start. `start` must be after the current key.
  void Seek(Bytes start) { seek_ = std::move(start); }
  [[nodiscard]] const Bytes& key() const { return key_; }
  /// Reads at least the selected columns of the current row. Call this function at most once for
  /// each row. Memory is charged to `memory` as in RowReader::Read.
  Result<StoredRow> Row(const lsm::ColumnChoice& columns, MemoryTally* memory);

 private:
  struct Source {
    std::unique_ptr<lsm::RowSource> rows;
    bool live = true;
  };

  const Engine& engine_;
  const Table& table_;
  const std::shared_ptr<const Version> version_;
  const FilesRead files_;
  std::vector<Source> sources_;  // newest first within a region
  std::unique_ptr<PointKeys> points_;
  bool points_live_ = true;
  Bytes points_key_;
  bool started_ = false;
  bool ended_ = false;
  Bytes key_;
  Bytes seek_;
};

/// Returns ascending keys that divide the table's rows in [start, stop) into pieces of a few blocks
/// each. In a points table, a piece may be as long as all rows of a metric. `metrics` is a result
/// of ListMetrics for this table. The memory of the returned keys is charged to `memory`. Returns
/// the errors of its context.
Result<std::vector<Bytes>> CutKeys(const Engine& engine, const Table& table, const Version& version,
                                   const MetricList& metrics, ByteView start, ByteView stop,
                                   MemoryTally* memory);
/// Returns the approximate memory, in bytes, of one key in a list of keys.
int64_t BytesOfKey(ByteView key);

}  // namespace hg::engine
