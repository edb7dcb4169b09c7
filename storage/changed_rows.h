#pragma once
// Reports of changed rows, for servers that let other processes change the store (storage/local,
// storage/thrift2), so that the process of the store can drop what it has cached.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "storage/store.h"

namespace hg {

/// Called after rows of a table may have changed. A row without changes was deleted. A row without
/// a key stands for all rows.
using ChangeReport =
    std::function<void(const std::string& table, const std::vector<RowMutation>& rows)>;

/// Returns whether the mutation only adds a column that was absent. Such a change hides or replaces
/// nothing that other code may have cached, so it is not reported.
inline bool OnlyAdds(const Expected& expected, const RowMutation& row) {
  return !expected && std::all_of(row.changes.begin(), row.changes.end(), [](const auto& change) {
    return change.kind == CellChange::Kind::kPut;
  });
}

/// Runs `work`, which changes rows, and then reports the rows as changed. They are reported even if
/// the store throws, because they may have changed before that. `report` may be empty.
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
