#pragma once
// A scan of the points door over cells: rows of several salt buckets in one order, each reconciled.

#include <memory>
#include <vector>

#include "storage/codec/qualifier.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::points {

/// The rows of several cursors in the order of their keys without salt, then of the salt. One
/// thread at a time.
class BucketCursors {
 public:
  /// Opens the scans. `salt_width`: bytes to pass over.
  static Result<BucketCursors> Open(Store* store, const std::vector<ScanSpec>& scans,
                                    size_t salt_width);

  /// Moves the next row out; false at the end.
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
  std::vector<size_t> heap_;  // buckets that have a row, the first one in order in front
};

/// One thread at a time. Unsettled rows are told to `listener` if it is set.
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

  Status misfit_;  // the first row whose key does not fit
  Row pending_;    // read ahead, to see the same hour under another salt
  bool has_pending_ = false;

  // The row being given.
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
