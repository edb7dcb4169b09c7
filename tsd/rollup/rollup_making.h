#pragma once
// Identifies the cells of one configuration of rollups: where they are stored and how they were
// computed.

#include "storage/base/bytes.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"
#include "tsd/rollup/rollup_sum.h"

namespace hg::tsd {

/// The parameters with which cells are computed.
struct RollupMaking {
  RollupIds ids;
  ReconcileOptions reconcile;
};

/// Returns where the cells of a level are stored and how they are numbered.
Bytes PlaceOf(const codec::RollupLevel& level, const RollupMaking& making);
/// Returns how the cells of a level are computed, including their place (PlaceOf).
Bytes MadeOf(const codec::RollupLevel& level, const RollupMaking& making);
/// Returns the place that a result of MadeOf, of this or an earlier version, contains. Returns ""
/// if `made` is not such a result.
Bytes PlaceIn(ByteView made);

}  // namespace hg::tsd
