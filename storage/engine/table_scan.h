#pragma once
// Scans rows of a table in key order. Each row is merged from memory and files, and returned as the
// cell store shows it.

#include <memory>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/lsm/column_choice.h"
#include "storage/store.h"

namespace hg::engine {

/// Returns the columns that must be read for a selection.
lsm::ColumnChoice ColumnsOf(const CellSelection& wanted);

/// Returns the selected cells of a complete row, with their values, in the order of RenderStored. A
/// point selected by its own qualifier is found even if the row is shown as one compacted cell.
/// Selects by `columns` and ignores wanted.qualifiers.
std::vector<Cell> SelectCells(const Table& table, const StoredRow& row, const CellSelection& wanted,
                              const lsm::ColumnChoice& columns,
                              const points::RenderOptions& options);

/// Opens a scan. The caller must have checked the spec. The engine must outlive the cursor.
Result<std::unique_ptr<ScanCursor>> OpenTableScan(const Engine& engine, const Table& table,
                                                  const ScanSpec& spec);

}  // namespace hg::engine
