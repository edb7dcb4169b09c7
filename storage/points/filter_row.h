#pragma once
// Evaluates row filters (storage/row_filter.h) for all engines and for the model store of the
// tests. Pure functions.

#include <vector>

#include "storage/base/status.h"
#include "storage/row_filter.h"
#include "storage/store.h"

namespace hg::points {

/// Returns InvalidArgument, with the reason, if the filter cannot be evaluated.
Status CheckFilter(const RowFilter& filter);

/// Whether a row with this key may pass. Conditions on cells are assumed to be true.
bool KeyMayPass(const RowFilter& filter, ByteView key);
/// Whether the row passes. `cells` are the selected cells with their values.
bool RowPasses(const RowFilter& filter, ByteView key, const std::vector<Cell>& cells);

/// Finds the first key at or after `key` that the filter's templates allow. Returns false if there
/// is none. Sets *next to `key` itself if the templates do not exclude it.
bool SeekKey(const RowFilter& filter, ByteView key, Bytes* next);

/// Whether the column and its family are selected. The store checks times and versions.
bool ColumnChosen(const CellSelection& wanted, ByteView family, ByteView qualifier);
/// Applies the remaining parts of the selection. Times, versions and columns are already selected,
/// and filters have already seen the values.
void Strip(const CellSelection& wanted, std::vector<Cell>* cells);

}  // namespace hg::points
