#pragma once
// Reads raw points together with automatic rollups, for hours of which retention may have deleted
// the raw points and kept the rollups.

#include <memory>
#include <vector>

#include "query/buckets/aggregator.h"
#include "query/rows/automatic_rollup_hours.h"
#include "query/rows/automatic_rollup_scan.h"
#include "storage/points/points.h"

namespace hg::query {

/// Scans the rows of `spec`. If a row still has at least as many points as the rollups of its hour
/// have counted, the scan returns the points of the row; NaN does not count. For any other row, the
/// scan returns the statistics of the rollup intervals in `pieces` (see ScanPieces), so that no
/// point is counted twice. Points that were written to an hour after its other points had been
/// deleted are left out, as in all queries that read rollups.
///
/// Every piece must have a rollup level. The rows of each series are returned in ascending order of
/// time, but rows of different series alternate. All rollup intervals are held in memory and
/// charged to `spec.watch`. `spec` must not request statistics, and the caller must not call
/// PointScan::Load. Returns the errors of ScanPieces.
std::unique_ptr<PointScan> ScanKept(const RolledSources& sources, std::vector<HoursPiece> pieces,
                                    const PointScanSpec& spec, const ReconcileOptions& options,
                                    Function function);

}  // namespace hg::query
