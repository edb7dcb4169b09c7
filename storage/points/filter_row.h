#pragma once
// Evaluates row filters (storage/row_filter.h). All storage engines and the model store of the
// tests use these functions. All functions are pure.

#include <vector>

#include "storage/base/status.h"
#include "storage/row_filter.h"
#include "storage/store.h"

namespace hg::points {

/// Returns whether `a op b` is true. `order` is the result of comparing a with b: <0, 0 or >0.
bool Holds(RowFilter::Op op, int order);

/// Returns InvalidArgument with the reason if the filter cannot be evaluated. Otherwise returns ok.
Status CheckFilter(const RowFilter& filter);

/// Returns whether a row with this key may pass the filter. Conditions on cells are assumed to be
/// true.
bool KeyMayPass(const RowFilter& filter, ByteView key);
/// Returns whether the row passes the filter. `cells` are the selected cells with their values.
bool RowPasses(const RowFilter& filter, ByteView key, const std::vector<Cell>& cells);

/// Sets *next to a key ≥ `key`. No key from `key` to *next, without *next itself, passes the
/// kTemplate conditions of the filter. If `key` passes these conditions, *next is `key`. Returns
/// false only if no key ≥ `key` passes them.
bool SeekKey(const RowFilter& filter, ByteView key, Bytes* next);

/// Returns whether the selection contains the column. Does not check times and versions, because
/// the store checks them.
bool ColumnChosen(const CellSelection& wanted, ByteView family, ByteView qualifier);
/// Returns whether the selection contains the column. Unlike ColumnChosen, this function ignores
/// wanted.qualifiers, which may be a long list.
bool ColumnInRanges(const CellSelection& wanted, ByteView family, ByteView qualifier);
/// Removes the cells and values that CellSelection::first_cell_only and keys_only exclude. Call
/// this function after the selection of times, versions and columns. Also call it after the
/// evaluation of filters, because filters need the values.
void Strip(const CellSelection& wanted, std::vector<Cell>* cells);

}  // namespace hg::points
