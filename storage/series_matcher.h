#pragma once
// Selects series for a scan by a fixed set of conditions that every engine can evaluate
// (region-store.md §11.3). The embedded engine converts them to bitmaps, and the HBase client
// converts them to filters of HBase. The results are the same in all cases.

#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"

namespace hg {

/// One condition for one tag key. `tagk` and the values are UID bytes with the layout's widths.
struct TagClause {
  enum class Kind { kAny, kOneOf, kAbsent };
  Bytes tagk;
  Kind kind = Kind::kAny;
  std::vector<Bytes> values;  // kOneOf: sorted, unique
};

/// Conditions for series. Immutable value. All conditions must be true.
struct SeriesMatcher {
  std::vector<TagClause>
      clauses;  // sorted by tagk; all clauses must be true, even if several have the same key
  bool exact_tags = false;  // whether the series may have only tag keys of the clauses
  /// If not empty, only series whose TSUIDs (metric ‖ pairs) are in this sorted list match.
  /// `clauses` is then usually empty.
  std::vector<Bytes> tsuids;
};

}  // namespace hg
