#pragma once
// Reads rollup and pre-aggregate tables as points (opentsdb-schema.md §13.4, §13.5).

#include <memory>
#include <optional>
#include <string>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"
#include "storage/model/key_layout.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::query {

/// One aggregate of a rollup table, to be read as points.
struct RollupColumn {
  std::string table;
  codec::RollupInterval interval;
  codec::RollupAggregate aggregate;
  /// If set, the scan returns only intervals that also have this aggregate, because an average
  /// needs both sum and count. A row that has only one of the two is returned without points.
  std::optional<codec::RollupAggregate> beside;
};

/// Opens a scan of the series and rows of `spec`. The store must outlive the scan. A row of the
/// table may be returned in several row-hours. Next fails with Corruption if a value does not fit
/// its flags, and with InvalidArgument if an interval has two values. If `fix_duplicates` is set,
/// the newer value is used instead.
Result<std::unique_ptr<PointScan>> ScanRollup(Store* store, const KeyLayout& layout,
                                              RollupColumn column, const PointScanSpec& spec,
                                              bool fix_duplicates);

/// Opens a scan of a table that has the layout of the data table.
Result<std::unique_ptr<PointScan>> ScanLikeData(Store* store, const KeyLayout& layout,
                                                const std::string& table, const PointScanSpec& spec,
                                                const ReconcileOptions& options);

}  // namespace hg::query
