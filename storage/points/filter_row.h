#pragma once
// Evaluates row filters (storage/row_filter.h), for all storage engines and for the model store of
// the tests. Pure functions.

#include <vector>

#include "storage/base/status.h"
#include "storage/row_filter.h"
#include "storage/store.h"

namespace hg::points {

/// Returns whether `a op b` is true for values whose comparison gave `order` (<0, 0 or >0).
bool Holds(RowFilter::Op op, int order);

/// Returns InvalidArgument with the reason if the filter cannot be evaluated; otherwise ok.
Status CheckFilter(const RowFilter& filter);

/// Returns whether a row with this key may pass the filter. Conditions on cells are assumed to be
/// true.
bool KeyMayPass(const RowFilter& filter, ByteView key);
/// Returns whether the row passes the filter. `cells` are the selected cells with their values.
bool RowPasses(const RowFilter& filter, ByteView key, const std::vector<Cell>& cells);

/// Sets *next to the first key at or after `key` that the filter's templates allow. Returns false
/// if there is none. If the templates allow `key` itself, *next is `key`.
bool SeekKey(const RowFilter& filter, ByteView key, Bytes* next);

/// Returns whether the selection contains the column. Does not check times and versions, which the
/// store checks.
bool ColumnChosen(const CellSelection& wanted, ByteView family, ByteView qualifier);
/// Like ColumnChosen, but does not look at wanted.qualifiers, of which there may be many.
bool ColumnInRanges(const CellSelection& wanted, ByteView family, ByteView qualifier);
/// Removes what CellSelection::first_cell_only and keys_only exclude. Call this function after the
/// selection of times, versions and columns, and after the evaluation of filters, which need the
/// values.
void Strip(const CellSelection& wanted, std::vector<Cell>* cells);

}  // namespace hg::points
