#pragma once
// What tells the cells of one making from those of another: where they stand, and what they were
// made with.

#include "storage/base/bytes.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"
#include "tsd/rollup/rollup_sum.h"

namespace hg::tsd {

/// What cells are made with.
struct RollupMaking {
  RollupIds ids;
  ReconcileOptions reconcile;
};

/// Where a level's cells stand, and how they are numbered.
Bytes PlaceOf(const codec::RollupLevel& level, const RollupMaking& making);
/// How they are made, their place included.
Bytes MadeOf(const codec::RollupLevel& level, const RollupMaking& making);
/// The place in what MadeOf said, by this version or an earlier one; "" = it is none.
Bytes PlaceIn(ByteView made);

}  // namespace hg::tsd
