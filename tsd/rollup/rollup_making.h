#pragma once
// Encodes where the cells of automatic rollups are stored and how their values are computed. A
// later process compares the encoded bytes in the table with the bytes of its own configuration.

#include "storage/base/bytes.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"
#include "tsd/rollup/rollup_sum.h"

namespace hg::tsd {

/// The parameters that influence the values of the rollup cells.
struct RollupMaking {
  RollupIds ids;
  ReconcileOptions reconcile;
};

/// Returns bytes that identify where the cells of a level are stored, and how the cells are
/// numbered.
Bytes PlaceOf(const codec::RollupLevel& level, const RollupMaking& making);
/// Returns bytes that identify where the cells of a level are stored and how their values are
/// computed. The bytes begin with the result of PlaceOf.
Bytes MadeOf(const codec::RollupLevel& level, const RollupMaking& making);
/// Returns the result of PlaceOf that is contained in `made`, a result of MadeOf. `made` may come
/// from an earlier version of the program. Returns "" if `made` is not a result of MadeOf.
Bytes PlaceIn(ByteView made);

}  // namespace hg::tsd
