#pragma once
// Reports of changed rows. Servers that let other processes change the store (storage/local,
// storage/thrift2) report the changed rows, so that the process that owns the store can drop cached
// data.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "storage/store.h"

namespace hg {

/// A function that is called after rows of a table may have changed. An element of `rows` without
/// changes means that the row was deleted. An element without a key means that all rows may have
/// changed.
using ChangeReport =
    std::function<void(const std::string& table, const std::vector<RowMutation>& rows)>;

/// Returns whether a compare-and-set with these arguments only adds a column that was absent: it
/// expects the column to be absent, and all its changes are puts of this column. Such a
/// compare-and-set hides or replaces no data that may be cached, so it is not reported.
inline bool OnlyAdds(const Bytes& family, const Bytes& qualifier, const Expected& expected,
                     const RowMutation& row) {
  return !expected && std::all_of(row.changes.begin(), row.changes.end(), [&](const auto& change) {
    return change.kind == CellChange::Kind::kPut && change.family == family &&
           change.qualifier == qualifier;
  });
}

/// Runs `work`, which changes rows, and then reports the rows as changed. If `work` throws an
/// exception, the rows are reported, too, because they may have changed. `report` may be empty.
template <typename Work>
auto Changing(const ChangeReport& report, const std::string& table,
              const std::vector<RowMutation>& rows, const Work& work) {
  const auto tell = [&] {
    if (report) report(table, rows);
  };
  auto done = [&] {
    try {
      return work();
    } catch (...) {
      tell();
      throw;
    }
  }();
  tell();
  return done;
}

}  // namespace hg
