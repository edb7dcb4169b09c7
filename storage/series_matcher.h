#pragma once
// Which series a scan wants: the closed set that every engine can evaluate (spec region-store.md
// §11.3). The embedded engine turns it into bitmaps, HBase into filter bytes; results are the same
// whatever is pushed down.

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

/// Immutable value. All conditions hold together.
struct SeriesMatcher {
  std::vector<TagClause>
      clauses;              // sorted by tagk; a key may occur more than once, its clauses are ANDed
  bool exact_tags = false;  // the series has no key that no clause names
  /// When not empty: only series whose TSUID (metric ‖ pairs) is listed; sorted. Clauses then
  /// usually are empty.
  std::vector<Bytes> tsuids;
};

}  // namespace hg
