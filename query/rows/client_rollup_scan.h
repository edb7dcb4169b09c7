#pragma once
// Reads tables of rollups and pre-aggregates as if their cells were points (opentsdb-schema.md
// §13.4, §13.5).

#include <memory>
#include <optional>
#include <string>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"
#include "storage/model/key_layout.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::query {

/// One aggregate of a rollup table. The scan returns its values as points.
struct RollupColumn {
  std::string table;
  codec::RollupInterval interval;
  codec::RollupAggregate aggregate;
  /// If set, the scan returns only the intervals that also have this second aggregate, because an
  /// average needs both sum and count. A row that has only one of the two aggregates is returned
  /// without points.
  std::optional<codec::RollupAggregate> beside;
};

/// Opens a scan of a rollup table for the series and rows of `spec`. The store must outlive the
/// scan. The scan may return one row of the table as several row-hours. Next fails with Corruption
/// if a value does not fit its flags. If an interval has two values, Next fails with
/// InvalidArgument; if `fix_duplicates` is set, it uses the newer value instead.
Result<std::unique_ptr<PointScan>> ScanRollup(Store* store, const KeyLayout& layout,
                                              RollupColumn column, const PointScanSpec& spec,
                                              bool fix_duplicates);

/// Opens a scan of a rollup or pre-aggregate table that has the layout of the data table.
Result<std::unique_ptr<PointScan>> ScanLikeData(Store* store, const KeyLayout& layout,
                                                const std::string& table, const PointScanSpec& spec,
                                                const ReconcileOptions& options);

}  // namespace hg::query
