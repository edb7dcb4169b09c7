#pragma once
// Reads a list of time ranges (pieces) in one scan. Each piece comes either from a rollup table or
// from raw points.

#include <memory>
#include <vector>

#include "query/buckets/aggregator.h"
#include "query/rows/automatic_rollup_hours.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::query {

/// The stores from which pieces are read. They must outlive the scans.
struct RolledSources {
  Store* cells = nullptr;
  Points* points = nullptr;
  const codec::RollupTables* tables = nullptr;
};

/// Scans the pieces, which must be in ascending order and not overlap. `spec` and `options` select
/// the series; the rows of `spec` are ignored. An interval of a rollup table is returned as a row
/// that starts with the interval and has only statistics: the values that `function` (sum, avg,
/// count, min or max) needs. Their sum may be rounded differently from the sum of the points in
/// order. Load of such a row fails with Conflict, because it has no points. Next fails like scans
/// of raw points, and with Corruption on invalid cells.
std::unique_ptr<PointScan> ScanPieces(const RolledSources& sources, std::vector<HoursPiece> pieces,
                                      const PointScanSpec& spec, const ReconcileOptions& options,
                                      Function function);

}  // namespace hg::query
