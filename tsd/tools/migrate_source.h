#pragma once
// Converts a row of the source to the form for the target. Pure functions.
//
// Points are resolved in the way in which readers of the source see them. Of several points at one
// time, only the one that OpenTSDB's merge selects by cell times (opentsdb-schema.md §9.4) is
// migrated. A store with native points does not know which of several points at one time was newer.
// If all were migrated, compacting or rewriting them could change the result. Cells that are copied
// unchanged (appends, unreadable cells) are not considered.

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "storage/model/key_layout.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::tsd {

struct SourceRules {
  bool points = false;  // this is the table of points
  ReconcileOptions reconcile = {};
  /// Upper limit for cell times. Without a limit, a point with a future time would get a cell time
  /// in the future, and later writes and deletes would not affect it.
  int64_t time_max_ms = std::numeric_limits<int64_t>::max();
};

/// The data that the target would not show because of the TTL of its families.
struct ExpiryRules {
  bool native = false;  // the target expires points by their own time, not by the cell time
  KeyLayout layout;
  // The time before which data has expired, by family; missing = the family has no TTL.
  std::map<Bytes, int64_t> oldest_ms = {};
};

/// Returns the rules for a table of the target, with a margin of one minute, because data that
/// expires while it is being written would be reported as missing.
Result<ExpiryRules> ExpiryOf(Store& there, const std::string& table, bool native,
                             const KeyLayout& layout, int64_t now_ms);

/// Removes expired points and cells from the row and returns their number.
uint64_t LeaveExpired(const ExpiryRules& rules, Row* row);

void SettleSourceRow(const SourceRules& rules, Row* row);

}  // namespace hg::tsd
