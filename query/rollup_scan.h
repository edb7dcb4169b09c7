#pragma once
// Rollup and pre-aggregate tables read as points (spec schema.md §13.4, §13.5).

#include <memory>
#include <optional>
#include <string>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"
#include "storage/model/key_layout.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::query {

/// One aggregate of a rollup table.
struct RollupColumn {
  std::string table;
  codec::RollupInterval interval;
  codec::RollupAggregate aggregate;
  /// Only where this aggregate stands beside it: an average needs sum and count. Rows with either
  /// are given, if need be without points.
  std::optional<codec::RollupAggregate> beside;
};

/// Opens the scan; the series and rows are those of `spec`. The store outlives it. A row may be
/// given in parts, as row-hours. Its Next fails with Corruption on values that do not fit their
/// flags, with InvalidArgument on two values of one interval, unless duplicates are fixed: then the
/// newer stays.
Result<std::unique_ptr<PointScan>> ScanRollup(Store* store, const KeyLayout& layout,
                                              RollupColumn column, const PointScanSpec& spec,
                                              bool fix_duplicates);

/// The same of a table that is laid out like the data table.
Result<std::unique_ptr<PointScan>> ScanLikeData(Store* store, const KeyLayout& layout,
                                                const std::string& table, const PointScanSpec& spec,
                                                const ReconcileOptions& options);

}  // namespace hg::query
