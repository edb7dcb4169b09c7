#pragma once
// Reads the cells of tables of rollups and pre-aggregates as if the cells were points
// (opentsdb-schema.md §13.4, §13.5).

#include <memory>
#include <optional>
#include <string>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"
#include "storage/model/key_layout.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::query {

/// One aggregate of a rollup table, for example the sum in the table for 1h. ScanRollup returns its
/// values as points.
struct RollupColumn {
  std::string table;
  codec::RollupInterval interval;
  codec::RollupAggregate aggregate;
  /// The second aggregate that an average needs: `aggregate` is then the sum, and `beside` is the
  /// count. If this member is set, the scan returns only the intervals that have both aggregates. A
  /// row that has only one of the two aggregates is returned without points.
  std::optional<codec::RollupAggregate> beside;
};

/// Opens a scan of a rollup table for the series and rows of `spec`. The store must outlive the
/// scan. The scan may return one row of the table as several row-hours. PointScan::Next fails with
/// Corruption if a value does not have the length that the flags of its cell state. If an interval
/// has two values, Next uses the newer value if `fix_duplicates` is set, and otherwise fails with
/// InvalidArgument.
Result<std::unique_ptr<PointScan>> ScanRollup(Store* store, const KeyLayout& layout,
                                              RollupColumn column, const PointScanSpec& spec,
                                              bool fix_duplicates);

/// Opens a scan of a rollup or pre-aggregate table whose rows have the layout of the data table.
/// The store must outlive the scan.
Result<std::unique_ptr<PointScan>> ScanLikeData(Store* store, const KeyLayout& layout,
                                                const std::string& table, const PointScanSpec& spec,
                                                const ReconcileOptions& options);

}  // namespace hg::query
