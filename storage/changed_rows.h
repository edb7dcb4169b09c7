#pragma once
// Reports of changed rows. Servers that let other processes change the store (storage/local,
// storage/thrift2) report changes, so that the process of the store can drop cached data.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "storage/store.h"

namespace hg {

/// A function that is called after rows of a table may have changed. A row without changes was
/// deleted. A row without a key means all rows.
using ChangeReport =
    std::function<void(const std::string& table, const std::vector<RowMutation>& rows)>;

/// Returns whether the mutation only adds a column that was absent. Such a change hides or replaces
/// nothing that may be cached, so it is not reported.
inline bool OnlyAdds(const Expected& expected, const RowMutation& row) {
  return !expected && std::all_of(row.changes.begin(), row.changes.end(), [](const auto& change) {
    return change.kind == CellChange::Kind::kPut;
  });
}

/// Runs `work`, which changes rows, and then reports the rows as changed. If the store throws an
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
