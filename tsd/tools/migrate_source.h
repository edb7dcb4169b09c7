#pragma once
// Converts a row of the source to the form for the target. All functions are pure.
//
// Points are resolved in the way in which readers of the source see them. If several points have
// the same time, only one of them is migrated: the one that OpenTSDB's merge selects by cell times
// (opentsdb-schema.md §9.4). A store that holds points instead of cells does not know which of
// several points with the same time is newer. If all these points were migrated, compacting or
// rewriting them could change the result. Cells that are copied unchanged (appends, unreadable
// cells) are not considered.

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "storage/model/key_layout.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::tsd {

struct SourceRules {
  bool points = false;  // whether this is the table of points
  ReconcileOptions reconcile = {};
  /// The upper limit for cell times. Without this limit, a point with a future time would get a
  /// cell time in the future, and later writes and deletes would not affect the point.
  int64_t time_max_ms = std::numeric_limits<int64_t>::max();
};

/// Describes which data the target would hide, because the TTL of the target's family has passed.
struct ExpiryRules {
  bool native = false;  // whether the target expires points by their own time, not by the cell time
  KeyLayout layout;
  // For each family: data before this time has expired. A family is not in the map if it has no
  // TTL, or if it keeps a minimum number of versions.
  std::map<Bytes, int64_t> oldest_ms = {};
};

/// Returns the rules for a table of the target. Data counts as expired one minute before its TTL
/// has passed, because data that expires while it is being written would be reported as missing.
Result<ExpiryRules> ExpiryOf(Store& there, const std::string& table, bool native,
                             const KeyLayout& layout, int64_t now_ms);

/// Removes the expired points and cells from the row, and returns their number.
uint64_t LeaveExpired(const ExpiryRules& rules, Row* row);

void SettleSourceRow(const SourceRules& rules, Row* row);

}  // namespace hg::tsd
