#pragma once
// Selects series for a scan by a fixed set of conditions that every engine can evaluate
// (region-store.md §11.3). The embedded engine converts them to bitmaps, and the HBase client
// converts them to filters of HBase. The results are the same in all cases.

#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"

namespace hg {

/// One condition on one tag key. `tagk` and the values are UID bytes of the layout's widths.
struct TagClause {
  enum class Kind { kAny, kOneOf, kAbsent };
  Bytes tagk;
  Kind kind = Kind::kAny;
  std::vector<Bytes> values;  // kOneOf: sorted, unique
};

/// Immutable value. All conditions must hold.
struct SeriesMatcher {
  std::vector<TagClause>
      clauses;  // sorted by tagk; a key may occur several times, and all its clauses must hold
  bool exact_tags = false;  // the series has no tag keys other than those of the clauses
  /// If not empty, only series whose TSUID (metric ‖ pairs) is listed match; sorted. Clauses are
  /// then usually empty.
  std::vector<Bytes> tsuids;
};

}  // namespace hg
