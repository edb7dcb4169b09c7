#pragma once
// Packed blocks of points files, which merges and repairs write. A packed block stores each kind of
// field as a column over all rows of the block. Columns are compressed with zstd if compression
// saves space (storage/points/FORMAT.md "Packed block").

#include "storage/lsm/block_file.h"

namespace hg::engine {

/// Returns the encoding of packed blocks. Set BlockReading::packer to it for every points file,
/// because the manifest does not tell whether a file has packed blocks.
const lsm::BlockPacker& RowBlockPacker();

}  // namespace hg::engine
