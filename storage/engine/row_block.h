#pragma once
// Packed blocks of merged points files. Each kind of field is stored as a column over all rows of a
// block. Columns are compressed with zstd if that saves space (storage/points/FORMAT.md "Packed
// block").

#include "storage/lsm/block_file.h"

namespace hg::points {

/// The packer of points files. It is also needed to read files that flushes wrote.
const lsm::BlockPacker& RowBlockPacker();

}  // namespace hg::points
