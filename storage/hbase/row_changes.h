#pragma once
// Converts an ordered row mutation to changes that HBase may apply in any order. All functions are
// pure.
//
// HBase applies all changes of a row mutation at one time. A delete hides a put with the same time,
// whatever their order (hbase-backend.md §6.14). Therefore, a change that a later change of the
// same mutation undoes must be removed before the mutation is sent.

#include <functional>
#include <vector>

#include "storage/store.h"

namespace hg::hbase {

/// A function that returns the existing columns of one family of the row.
using ColumnReader = std::function<Result<std::vector<Bytes>>(const Bytes& family)>;

/// Returns changes that have, in any order, the same effect as `changes` in sequence. Changes with
/// explicit times stay unchanged. If a column is deleted and then put, only the put is returned, so
/// a family with several versions keeps the older versions. If a family is deleted before a put
/// into this family, the result has deletes of the existing columns of the family instead. Only in
/// this case, SettleOrder calls `columns`.
Result<std::vector<CellChange>> SettleOrder(const std::vector<CellChange>& changes,
                                            const ColumnReader& columns);

/// Returns whether one of the changes is a delete without an explicit time. Such a delete removes
/// everything that is older than its arrival at HBase.
bool DeletesNow(const std::vector<CellChange>& changes);

}  // namespace hg::hbase
