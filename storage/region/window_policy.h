#pragma once
// Selects the parts of a region of a points table to merge. Each file belongs to a time window, so
// that new data leaves old files unchanged (region-store.md C8). All functions are pure.
//
// A flush writes one part for each day that has a large share of the flushed rows, and one part for
// all other rows. Parts of a day are merged about eight at a time. The remaining parts of a day are
// merged when the day is over. A past window of 8 days is merged into one part, and later a past
// window of 64 days. Data that arrives in order is rewritten three times in total.
//
// Late rows stay in parts that are wider than any window until there are eight such parts. A merge
// then divides the rows of these parts by windows. The resulting parts of a window are merged with
// each other. They are merged with the window's old part only when together they are as large as
// the old part.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/region/merge_policy.h"

namespace hg::region {

/// Ascending positions of the selected parts in a list that is ordered from the newest part to the
/// oldest.
using Picked = std::vector<size_t>;

/// Returns the parts to merge, or an empty list if no parts should be merged. In the list of parts,
/// the output of the merge replaces the newest of the returned parts.
Picked PartsToJoin(std::span<const PartFacts> newest_first, const MergePolicy& policy,
                   int64_t now_ms);

/// Returns whether the picked parts may be merged without the other parts. The merge is not allowed
/// if a part between them has rows in common with an older picked part. In that case, the older
/// data of these rows would count as newer after the merge. The points of the output get its
/// greatest sequence number. So the merge is also not allowed if a newer part has cells that may be
/// older than this number, and rows in common with a picked part whose numbers are all smaller.
bool MayJoin(std::span<const PartFacts> newest_first, const Picked& picked);

/// Returns whether no part outside of `picked` has rows in common with a newer part in `picked`. If
/// the result is true, the merge may remove tombstones.
bool IsBottom(std::span<const PartFacts> newest_first, const Picked& picked);

/// Returns the maximum number of parts in which the same row may occur.
size_t Depth(std::span<const RowSpan> parts);

/// Returns the time, in ms, from the end of a window until the window counts as over. In this time,
/// regular flushes write the rest of the window's data. The time depends on `number`, which is the
/// number of the window's oldest part, so that regions do not all merge at the same time.
int64_t WindowRestMs(const Window& window, uint64_t number);

}  // namespace hg::region
