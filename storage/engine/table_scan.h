#pragma once
// Scans rows of a table in key order. Each row is merged from memory and files. The scan returns
// the cells of a row as the cell store does.

#include <memory>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/lsm/column_choice.h"
#include "storage/store.h"

namespace hg::engine {

/// Returns the columns that must be read to return the selected cells.
lsm::ColumnChoice ColumnsOf(const CellSelection& wanted);

/// Returns the selected cells of a complete row, with their values, in the order of RenderStored. A
/// point that is selected by its own qualifier is found even if the row is returned as one
/// compacted cell. The function selects columns by `columns` and ignores wanted.qualifiers.
std::vector<Cell> SelectCells(const Table& table, const StoredRow& row, const CellSelection& wanted,
                              const lsm::ColumnChoice& columns,
                              const points::RenderOptions& options);

/// Opens a scan. The caller must have checked that `spec` is valid. The engine, the table and
/// spec.context must outlive the returned cursor.
Result<std::unique_ptr<ScanCursor>> OpenTableScan(const Engine& engine, const Table& table,
                                                  const ScanSpec& spec);

}  // namespace hg::engine
