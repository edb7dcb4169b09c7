#pragma once
// Does a series pass a matcher? The one evaluation of storage/series_matcher.h: by key here, by
// bitmaps in an index; the answers are the same. Pure.

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg::points {

/// True if every metric's every series passes.
inline bool MatchesAll(const SeriesMatcher& matcher) {
  return matcher.clauses.empty() && !matcher.exact_tags && matcher.tsuids.empty();
}

/// `pairs`: the tag bytes of a key as they stand. Bytes that are no whole number of pairs pass only
/// MatchesAll (OpenTSDB's key regex needs whole pairs; spec schema.md §4.2); no pairs at all are a
/// series without tags.
bool MatchesSeries(const SeriesMatcher& matcher, const KeyLayout& layout, ByteView metric,
                   ByteView pairs);

/// tsuid = metric ‖ pairs, at least the metric.
bool MatchesTsuid(const SeriesMatcher& matcher, const KeyLayout& layout, ByteView tsuid);

}  // namespace hg::points
