#pragma once
// Rows of cells in a block file: key = row key, value = the encoded row (FORMAT.md "Row").

#include <memory>

#include "storage/lsm/block_file.h"
#include "storage/lsm/cell_row.h"
#include "storage/lsm/row_source.h"

namespace hg::lsm {

/// False if there is no such row. Corruption: file and offset.
Result<bool> GetRow(const BlockFile& file, ByteView key, CellRow* row);
/// Rows in [start, stop); keeps the file open.
std::unique_ptr<RowSource> ScanRows(std::shared_ptr<const BlockFile> file, Bytes start, Bytes stop,
                                    CacheUse use = CacheUse::kKeep);

}  // namespace hg::lsm
