#pragma once
// The keys of a table's rows in order, from all parts of the store.

#include <memory>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/lsm/row_source.h"

namespace hg::points {

/// Keys of the regular rows of a points table that hold points, ascending, in [start, stop). One
/// thread at a time. Rows are listed one metric at a time, as of the moment the metric is reached.
class PointKeys {
 public:
  PointKeys(const Engine& engine, std::shared_ptr<const Version> version, Bytes start, Bytes stop);

  /// False at the end.
  Result<bool> Next(Bytes* key);
  /// Goes on at the first key ≥ start, which is not before the one given last.
  void Seek(Bytes start) { start_ = std::move(start); }

 private:
  struct Place {
    uint32_t base;
    uint32_t series;
    uint32_t order;  // by TSUID
  };
  Status ListMetric(uint32_t bucket, const Bytes& metric);

  const Engine& engine_;
  const std::shared_ptr<const Version> version_;
  Bytes start_;
  const Bytes stop_;
  const std::vector<Bytes> metrics_;
  uint32_t bucket_ = 0;
  size_t metric_ = 0;
  std::vector<Place> places_;
  size_t at_ = 0;
};

/// Keys of a table's rows in [start, stop), ascending; some of the rows that have no cell of the
/// family, or none from `min_ms` on, are left out. One thread at a time. The engine outlives it.
class TableKeys {
 public:
  TableKeys(const Engine& engine, const Table& table, std::shared_ptr<const Version> version,
            Bytes start, Bytes stop, ByteView family, int64_t min_ms, lsm::CacheUse use);

  /// False at the end.
  Result<bool> Next();
  /// Goes on at the first key ≥ start, which lies behind the one moved to.
  void Seek(Bytes start) { seek_ = std::move(start); }
  [[nodiscard]] const Bytes& key() const { return key_; }
  /// The row moved to, whole; once per row.
  Result<StoredRow> Row();

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

/// Keys that cut the table's rows in [start, stop) into pieces of a few blocks each, ascending.
std::vector<Bytes> CutKeys(const Engine& engine, const Table& table, const Version& version,
                           ByteView start, ByteView stop);

}  // namespace hg::points
