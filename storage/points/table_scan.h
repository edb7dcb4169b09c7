#pragma once
// Rows of a table in key order, as the cells door shows them: all parts joined (engine.md §8).

#include <memory>
#include <vector>

#include "storage/points/engine.h"
#include "storage/store.h"

namespace hg::points {

/// What a get or a scan wants of a row.
struct ColumnFilter {
  Bytes family;                   // "" = all
  std::vector<Bytes> qualifiers;  // empty = all
  bool keys_only = false;
};

/// The chosen cells of a whole row. A point asked for by its own qualifier is found even where the
/// row is shown as one compacted cell.
std::vector<Cell> SelectCells(const Table& table, const StoredRow& row, const ColumnFilter& filter,
                              const RenderOptions& options);

/// Keys of the regular rows of a points table that hold points, ascending, in [start, stop). One
/// thread at a time. Rows are listed one metric at a time, as of the moment the metric is reached.
class PointKeys {
 public:
  PointKeys(const Engine& engine, std::shared_ptr<const Version> version, Bytes start, Bytes stop);

  /// False at the end.
  Result<bool> Next(Bytes* key);

 private:
  struct Place {
    uint32_t base;
    uint32_t series;
    uint32_t order;  // by TSUID
  };
  Status ListMetric(uint32_t bucket, const Bytes& metric);

  const Engine& engine_;
  const std::shared_ptr<const Version> version_;
  const Bytes start_;
  const Bytes stop_;
  const std::vector<Bytes> metrics_;
  uint32_t bucket_ = 0;
  size_t metric_ = 0;
  std::vector<Place> places_;
  size_t at_ = 0;
};

/// Opens a scan. The engine outlives the cursor.
Result<std::unique_ptr<ScanCursor>> OpenTableScan(const Engine& engine, const Table& table,
                                                  const ScanSpec& spec);

}  // namespace hg::points
