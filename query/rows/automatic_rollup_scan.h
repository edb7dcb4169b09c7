#pragma once
// Reads a list of time ranges (pieces) in one scan. Each piece is read either from a rollup table
// or from raw points.

#include <memory>
#include <vector>

#include "query/buckets/aggregator.h"
#include "query/rows/automatic_rollup_hours.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::query {

/// The stores from which a scan reads its pieces. The stores must outlive the scan.
struct RolledSources {
  Store* cells = nullptr;
  Points* points = nullptr;
  const codec::RollupTables* tables = nullptr;
};

/// Scans `pieces`, which must be in ascending order and must not overlap. `spec` and `options`
/// select the series; the row range of `spec` is ignored.
///
/// An interval of a rollup table is returned as a row that begins at the start of the interval.
/// This row has no points, but it has the statistics that `function` (sum, avg, count, min or max)
/// needs. The sum in the statistics may be rounded differently than a sum of the single points.
/// PointScan::Load fails with Conflict for this row, because the row has no points.
///
/// PointScan::Next returns the errors of scans of raw points. It returns Corruption if the rollup
/// table has invalid cells.
std::unique_ptr<PointScan> ScanPieces(const RolledSources& sources, std::vector<HoursPiece> pieces,
                                      const PointScanSpec& spec, const ReconcileOptions& options,
                                      Function function);

}  // namespace hg::query
