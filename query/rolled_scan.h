#pragma once
// Hours read piece by piece, from rollup tables and from raw points, as one scan.

#include <memory>
#include <vector>

#include "query/aggregator.h"
#include "query/rolled_hours.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::query {

/// Where the pieces stand. All outlive the scans.
struct RolledSources {
  Store* cells = nullptr;
  Points* points = nullptr;
  const codec::RollupTables* tables = nullptr;
};

/// The pieces ascend and do not overlap. Series and options are those of `spec`, but for its rows.
/// An interval of a rollup table comes as a row that begins with it, by its statistics: as far as
/// `function` (sum, avg, count, min, max) needs them, and the sum was added up in pieces. Load of
/// such a row is a Conflict: there are no points. Next fails as the scans of raw points do, and
/// with Corruption on cells that cannot be.
std::unique_ptr<PointScan> ScanPieces(const RolledSources& sources, std::vector<HoursPiece> pieces,
                                      const PointScanSpec& spec, const ReconcileOptions& options,
                                      Function function);

}  // namespace hg::query
