#pragma once
// Packed blocks of points files that a merge wrote. Each kind of field is stored as a column over
// all rows of a block. Columns are compressed with zstd if that saves space
// (storage/points/FORMAT.md "Packed block").

#include "storage/lsm/block_file.h"

namespace hg::engine {

/// Returns the packer of points files. Readers need it for all points files, including those that a
/// flush wrote without packing.
const lsm::BlockPacker& RowBlockPacker();

}  // namespace hg::engine
