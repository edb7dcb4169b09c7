#pragma once
// A mutation in order, in HBase's terms. Pure.
//
// To HBase all changes of one row mutation happen at one moment, and a delete hides a put of its
// moment whatever their order (spec hbase-backend.md §6.14). So what comes later must have taken
// away what it undoes.

#include <functional>
#include <vector>

#include "storage/store.h"

namespace hg::hbase {

/// The names of the columns that a family of the row has now.
using ColumnReader = std::function<Result<std::vector<Bytes>>(const Bytes& family)>;

/// The changes, in any order, that leave what `changes` leave one after another. Changes with times
/// of their own stay as they are. A put after a delete of its column replaces it, so that a family
/// that keeps several versions keeps the older ones. A delete of a family before a put into it
/// becomes deletes of the columns that are there: only then `columns` is asked.
Result<std::vector<CellChange>> SettleOrder(const std::vector<CellChange>& changes,
                                            const ColumnReader& columns);

/// Whether a change deletes as of the moment when it arrives.
bool DeletesNow(const std::vector<CellChange>& changes);

}  // namespace hg::hbase
