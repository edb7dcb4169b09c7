#pragma once
// Selects the parts of a points region to merge. Files keep to time windows, so that new data
// leaves old files unchanged (region-store.md C8). Pure functions.
//
// A flush writes one part for each of the days with most of its rows, and one part for all other
// rows. Parts of a day are merged about eight at a time, and the rest when the day is over. A past
// window of 8 days is merged into one part, and later a window of 64 days. Data that arrives in
// order is rewritten three times in all.
//
// Late rows stay in parts that are wider than any window until there are eight such parts. A merge
// divides the rows of these parts by windows. The resulting parts of a window are merged with each
// other. They are merged with the old part of the window only when together they reach its size.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/region/merge_policy.h"

namespace hg::region {

/// Positions in a list of parts that is newest first; ascending.
using Picked = std::vector<size_t>;

/// Returns the parts to merge. The output takes the place of the newest of them. Empty means none.
Picked RunsToJoin(std::span<const RunFacts> newest_first, const MergePolicy& policy,
                  int64_t now_ms);

/// Whether the parts may be merged without the parts between them. A part between them must not
/// share rows with an older picked part, because those rows would become newer.
bool MayJoin(std::span<const RunFacts> newest_first, const Picked& picked);

/// Whether no part outside of `picked` shares rows with a newer part in `picked`. If so, the merge
/// may drop tombstones.
bool IsBottom(std::span<const RunFacts> newest_first, const Picked& picked);

/// The maximum number of parts that may hold a row.
size_t Depth(std::span<const RowSpan> runs);

/// How long after its end a window is merged. The time lies after the last regular flush and
/// differs between regions. `number` is the number of the oldest part of the window.
int64_t WindowRestMs(const Window& window, uint64_t number);

}  // namespace hg::region
