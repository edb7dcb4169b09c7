#pragma once
// Blocks of merged points files: the fields of all rows of a block side by side, each kind in a
// column, the columns compressed by zstd where that helps (FORMAT.md "Packed block").

#include "storage/lsm/block_file.h"

namespace hg::points {

/// The packer of points files; files that no merge wrote are read with it, too.
const lsm::BlockPacker& RowBlockPacker();

}  // namespace hg::points
