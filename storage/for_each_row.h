#pragma once
// A scan from its beginning to its end.

#include <utility>
#include <vector>

#include "storage/store.h"

namespace hg {

/// Calls visit(row), which answers a Status and may take the row apart, for each row of the scan in
/// its order. The first failure, the store's or the visitor's, ends it.
template <typename Visit>
Status ForEachRow(Store& store, const ScanSpec& spec, Visit&& visit) {
  ASSIGN_OR_RETURN(const auto cursor, store.Scan(spec));
  std::vector<Row> rows;
  do {
    RETURN_IF_ERROR(cursor->Next(&rows));
    for (Row& row : rows) RETURN_IF_ERROR(visit(row));
  } while (!rows.empty());
  return {};
}

}  // namespace hg
