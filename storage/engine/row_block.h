#pragma once
// Packed blocks of merged points files. Each kind of field is stored as a column over all rows of a
// block. Columns are compressed with zstd if that saves space (storage/points/FORMAT.md "Packed
// block").

#include "storage/lsm/block_file.h"

namespace hg::engine {

/// Returns the packer of points files. A reader needs it for all points files, also for those that
/// a flush wrote without packing.
const lsm::BlockPacker& RowBlockPacker();

}  // namespace hg::engine
