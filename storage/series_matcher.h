#pragma once
// Selects series for a scan by a fixed set of conditions that every engine can evaluate
// (region-store.md §11.3). The embedded engine converts these conditions to bitmaps, and the HBase
// client converts them to filters of HBase. The results are the same in all cases.

#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"

namespace hg {

/// One condition for one tag key. `tagk` and `values` are UIDs as bytes. The KeyLayout of the table
/// defines their widths.
struct TagClause {
  enum class Kind { kAny, kOneOf, kAbsent };
  Bytes tagk;
  Kind kind = Kind::kAny;
  std::vector<Bytes> values;  // for kOneOf: sorted, without duplicates
};

/// Conditions on series, which must all be true. SeriesMatcher is an immutable value.
struct SeriesMatcher {
  // Sorted by tagk. All clauses must be true, even if several clauses have the same key.
  std::vector<TagClause> clauses;
  bool exact_tags = false;  // whether the series may have only tag keys of `clauses`
  /// If `tsuids` is not empty, only series whose TSUIDs (metric ‖ tag pairs) are in this sorted
  /// list match. In this case, `clauses` is usually empty.
  std::vector<Bytes> tsuids;
};

}  // namespace hg
