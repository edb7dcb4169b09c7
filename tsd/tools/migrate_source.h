#pragma once
// A row of the source as the other side is to have it. Pure.
//
// Points are brought over as readers of the source settle them: of several at one instant the one
// that OpenTSDB's merge keeps (spec schema.md §9.4), by the times of their cells, wherever they
// stand. The others are left behind: a store that keeps points natively does not know which of them
// was the newer, and one that was compacted or written again would tell it otherwise.
// Cells that are taken as they are (appends, what cannot be read) take no part in this.

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "storage/model/key_layout.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::tsd {

struct SourceRules {
  bool points = false;  // it is the table of points
  ReconcileOptions reconcile = {};
  /// Times of cells are at most this: a point's own time as its cell's would otherwise lie in the
  /// future, where no write and no delete reaches it.
  int64_t time_max_ms = std::numeric_limits<int64_t>::max();
};

/// What the other side would not show, by the TTL of its families.
struct ExpiryRules {
  bool native = false;  // points go by their own time there, not by their cell's
  KeyLayout layout;
  std::map<Bytes, int64_t> oldest_ms = {};  // by family; none: it has no TTL
};

/// Of a table there, as of now and a minute on: what expires while it is being written would be
/// found missing.
Result<ExpiryRules> ExpiryOf(Store& there, const std::string& table, bool native,
                             const KeyLayout& layout, int64_t now_ms);

/// Takes out what has expired there; the number of points and other cells.
uint64_t LeaveExpired(const ExpiryRules& rules, Row* row);

void SettleSourceRow(const SourceRules& rules, Row* row);

}  // namespace hg::tsd
