#pragma once
// The evaluation of row filters (storage/row_filter.h), for every engine and for the oracle. Pure.

#include <vector>

#include "storage/base/status.h"
#include "storage/row_filter.h"
#include "storage/store.h"

namespace hg::points {

/// InvalidArgument: what of it cannot be evaluated.
Status CheckFilter(const RowFilter& filter);

/// Whether the row may pass as far as its key tells; cells that decide are taken to be right.
bool KeyMayPass(const RowFilter& filter, ByteView key);
/// Whether the row passes. `cells`: the chosen ones, with their values.
bool RowPasses(const RowFilter& filter, ByteView key, const std::vector<Cell>& cells);

/// The first key from `key` on that can pass by its templates; false: there is none. It is `key`
/// itself where templates do not rule it out.
bool SeekKey(const RowFilter& filter, ByteView key, Bytes* next);

/// Whether the column and its family are among the chosen ones. Times and versions are the store's.
bool ColumnChosen(const CellSelection& wanted, ByteView family, ByteView qualifier);
/// Applies what of the selection is left once times, versions and columns are chosen and filters
/// have seen the values.
void Strip(const CellSelection& wanted, std::vector<Cell>* cells);

}  // namespace hg::points
