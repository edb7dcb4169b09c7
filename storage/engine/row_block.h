#pragma once
// Packed blocks of points files, which merges write. A packed block stores each kind of field as a
// column over all rows of the block. Columns are compressed with zstd if compression saves space
// (storage/points/FORMAT.md "Packed block").

#include "storage/lsm/block_file.h"

namespace hg::engine {

/// Returns the encoding of the blocks of points files. Readers need it for all points files,
/// including files that a flush wrote without packing.
const lsm::BlockPacker& RowBlockPacker();

}  // namespace hg::engine
