#pragma once
// Hours whose raw points may have been deleted for their age, while rollups of our own making stay.

#include <memory>
#include <vector>

#include "query/aggregator.h"
#include "query/rolled_hours.h"
#include "query/rolled_scan.h"
#include "storage/points/points.h"

namespace hg::query {

/// The rows of `spec` by their points where all that rollups tell of are there (a rule of retention
/// was for other series), and intervals of the pieces, which all have a level, by their statistics
/// (ScanPieces) where they are not: nothing is told twice. Points that came after the others of
/// their hour went are left out, as by queries that read rollups. Of a series times ascend; series
/// interleave. What the intervals take is charged to the watch of `spec`, all of them at once. Load
/// is of no use: `spec` does not ask for statistics. Fails as ScanPieces does.
std::unique_ptr<PointScan> ScanKept(const RolledSources& sources, std::vector<HoursPiece> pieces,
                                    const PointScanSpec& spec, const ReconcileOptions& options,
                                    Function function);

}  // namespace hg::query
