#pragma once
// Evaluates a SeriesMatcher (storage/series_matcher.h) for a row key. The embedded engine uses an
// index with bitmaps instead, with the same result. All functions are pure.

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg::points {

/// Returns whether every series of every metric matches.
inline bool MatchesAll(const SeriesMatcher& matcher) {
  return matcher.clauses.empty() && !matcher.exact_tags && matcher.tsuids.empty();
}

/// Returns whether a series matches. `pairs` are the bytes of the tag pairs in its row key, in
/// stored order. They are empty for a series without tags. Bytes that are not a whole number of
/// pairs match only if MatchesAll returns true, because OpenTSDB's key regex requires whole pairs
/// (opentsdb-schema.md §4.2).
bool MatchesSeries(const SeriesMatcher& matcher, const KeyLayout& layout, ByteView metric,
                   ByteView pairs);

/// Returns whether a series matches. `tsuid` consists of the metric and the tag pairs, and has at
/// least the metric.
bool MatchesTsuid(const SeriesMatcher& matcher, const KeyLayout& layout, ByteView tsuid);

}  // namespace hg::points
