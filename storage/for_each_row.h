#pragma once
// Calls a function for each row of a scan.

#include <utility>
#include <vector>

#include "storage/store.h"

namespace hg {

/// Calls visit(row) for each row of the scan in order. `visit` returns a Status and may move data
/// out of the row. If the store or `visit` fails, the scan ends and the failure is returned.
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
