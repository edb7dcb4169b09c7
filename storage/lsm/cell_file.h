#pragma once
// Rows of cells in a block file. The key of an entry is the row key, and the value is the encoded
// row (FORMAT.md "Row"). A row with many columns (a wide row) is stored in pieces. Each piece has
// some of the columns, so a reader of one column does not read the whole row.

#include <memory>

#include "storage/lsm/block_file.h"
#include "storage/lsm/cell_row.h"
#include "storage/lsm/row_source.h"

namespace hg::lsm {

/// Usual maximum size in bytes of a piece. It is larger for a large cell or for long column names.
inline constexpr size_t kPieceBytes = 8 << 10;

/// Adds a row. If the row is wide, AddRow stores it in pieces.
Status AddRow(ByteView key, const CellRow& row, BlockFileWriter* writer);
/// Adds further columns to the row that was added last. They must be after the columns that the row
/// already has. `columns` must not have tombstones of families. With AddColumns, a row that is
/// larger than the memory can be written.
Status AddColumns(const CellRow& columns, BlockFileWriter* writer);
/// Appends the cells of the next piece to `row`, which has the cells of the previous pieces.
void AppendPiece(CellRow piece, CellRow* row);

/// Reads the selected columns of a row. Returns false if the row does not exist. The memory of the
/// columns is charged to `memory` before they are copied. If the charge fails, GetRow returns its
/// error. If `memory` is null, there is no limit. Returns Busy if GetRow would read the disk and
/// the context of `memory` may not wait. The message of Corruption names the file and the offset.
Result<bool> GetRow(const BlockFile& file, ByteView key, const ColumnChoice& wanted,
                    MemoryTally* memory, CellRow* row);
/// Returns a source of the rows in [start, stop). The result keeps the file open. `context` has the
/// same meaning as in BlockFileScan.
std::unique_ptr<RowSource> ScanRows(std::shared_ptr<const BlockFile> file, Bytes start, Bytes stop,
                                    CacheUse use = CacheUse::kKeep,
                                    RequestContext* context = nullptr);

}  // namespace hg::lsm
