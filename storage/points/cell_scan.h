#pragma once
// Implements PointScan over a cell store. The scan reads the rows of several salt buckets, returns
// them in one order and reconciles each row.

#include <memory>
#include <vector>

#include "storage/codec/qualifier.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::points {

/// Returns the rows of several cursors. The rows are ordered by their keys without salt. Rows whose
/// keys differ only in the salt are ordered by salt. Not thread-safe.
class BucketCursors {
 public:
  /// Opens a cursor for each element of `scans`. `salt_width` is the number of leading key bytes
  /// that form the salt.
  static Result<BucketCursors> Open(Store* store, const std::vector<ScanSpec>& scans,
                                    size_t salt_width);

  /// Moves the next row into *row. Returns false if there are no more rows.
  Result<bool> Next(Row* row);

 private:
  struct Bucket {
    std::unique_ptr<ScanCursor> cursor;
    std::vector<Row> rows;
    size_t at = 0;
  };
  Status Refill(size_t bucket);
  [[nodiscard]] bool After(size_t a, size_t b) const;

  size_t salt_width_ = 0;
  std::vector<Bucket> buckets_;
  std::vector<size_t> heap_;  // buckets with a next row; a heap whose front has the first row
};

/// A scan of points in a cell store. Not thread-safe. If `listener` is set, the scan calls it for
/// rows that should be rewritten.
class CellPointScan : public PointScan {
 public:
  CellPointScan(BucketCursors cursors, KeyLayout layout, PointScanSpec spec,
                ReconcileOptions options, UnsettledRowListener listener)
      : cursors_(std::move(cursors)),
        layout_(layout),
        spec_(std::move(spec)),
        options_(options),
        listener_(std::move(listener)) {}

  Result<bool> Next(RowHour* row) override;

 private:
  Result<bool> NextMatching(Row* row);
  Result<bool> Take(Row* row);
  Status Read(const Row& row, std::vector<codec::StoredPoint>* points);
  void Give(const std::vector<codec::StoredPoint>& points, RowHour* row);

  BucketCursors cursors_;
  const KeyLayout layout_;
  const PointScanSpec spec_;
  const ReconcileOptions options_;
  const UnsettledRowListener listener_;

  Status misfit_;  // error of the first row whose key does not fit the key layout
  Row pending_;    // row that was read early, to find the same hour with another salt
  bool has_pending_ = false;

  // The content of the last row that Next returned.
  Row current_;
  Bytes tsuid_;
  uint32_t base_ = 0;
  uint32_t stored_cells_ = 0;
  std::vector<Cell> objects_;
  std::vector<uint32_t> offsets_;
  std::vector<uint64_t> values_;
  std::vector<uint8_t> is_double_;
};

}  // namespace hg::points
