#pragma once
// Reads hours whose raw points may have been deleted by retention while automatic rollups are still
// stored.

#include <memory>
#include <vector>

#include "query/aggregator.h"
#include "query/automatic_rollup_hours.h"
#include "query/automatic_rollup_scan.h"
#include "storage/points/points.h"

namespace hg::query {

/// Scans the rows of `spec`. A row is returned with its points if it still has all points that the
/// rollups count. Otherwise the intervals of `pieces` are returned by their statistics (see
/// ScanPieces), so no point is counted twice. Points that were written to an hour after its other
/// points had been deleted are left out, as in queries that read rollups.
/// Every piece must have a level. Times of a series ascend; different series interleave. All
/// intervals are held in memory and charged to `spec.watch`. Do not call Load: `spec` must not ask
/// for statistics. Fails like ScanPieces.
std::unique_ptr<PointScan> ScanKept(const RolledSources& sources, std::vector<HoursPiece> pieces,
                                    const PointScanSpec& spec, const ReconcileOptions& options,
                                    Function function);

}  // namespace hg::query
