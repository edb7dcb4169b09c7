#pragma once
// Converts an ordered mutation to HBase's rules. Pure functions.
//
// HBase applies all changes of a row mutation at one time. A delete hides a put of the same time,
// whatever their order (hbase-backend.md §6.14). Changes that later changes of the mutation undo
// must therefore be removed before it is sent.

#include <functional>
#include <vector>

#include "storage/store.h"

namespace hg::hbase {

/// A function that returns the columns that a family of the row has now.
using ColumnReader = std::function<Result<std::vector<Bytes>>(const Bytes& family)>;

/// Returns changes that have, in any order, the same effect as `changes` in sequence. Changes with
/// explicit times stay unchanged. A put after a delete of its column replaces the delete, so a
/// family with several versions keeps the older ones. A delete of a family before a put into this
/// family becomes deletes of its existing columns. Only in this case is `columns` called.
Result<std::vector<CellChange>> SettleOrder(const std::vector<CellChange>& changes,
                                            const ColumnReader& columns);

/// Returns whether a change is a delete without an explicit time, which deletes everything that is
/// older than its arrival at HBase.
bool DeletesNow(const std::vector<CellChange>& changes);

}  // namespace hg::hbase
