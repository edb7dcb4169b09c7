#pragma once
// Rows of a table in key order, as the cells door shows them: all parts joined (engine.md §8).

#include <memory>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/store.h"

namespace hg::points {

/// The chosen cells of a whole row, with their values. A point asked for by its own qualifier is
/// found even where the row is shown as one compacted cell.
std::vector<Cell> SelectCells(const Table& table, const StoredRow& row, const CellSelection& wanted,
                              const RenderOptions& options);

/// Opens a scan; the spec has been checked. The engine outlives the cursor.
Result<std::unique_ptr<ScanCursor>> OpenTableScan(const Engine& engine, const Table& table,
                                                  const ScanSpec& spec);

}  // namespace hg::points
