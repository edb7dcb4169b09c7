#pragma once
// Evaluates a SeriesMatcher (storage/series_matcher.h) for a row key. An index evaluates it by
// bitmaps with the same results. Pure functions.

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg::points {

/// True if every series of every metric matches.
inline bool MatchesAll(const SeriesMatcher& matcher) {
  return matcher.clauses.empty() && !matcher.exact_tags && matcher.tsuids.empty();
}

/// `pairs` are the tag bytes of a key in stored order. If they are not a whole number of pairs,
/// they match only a matcher for which MatchesAll is true, because OpenTSDB's key regex requires
/// whole pairs (opentsdb-schema.md §4.2). No pairs mean a series without tags.
bool MatchesSeries(const SeriesMatcher& matcher, const KeyLayout& layout, ByteView metric,
                   ByteView pairs);

/// `tsuid` is metric ‖ pairs and has at least the metric.
bool MatchesTsuid(const SeriesMatcher& matcher, const KeyLayout& layout, ByteView tsuid);

}  // namespace hg::points
