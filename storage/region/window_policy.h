#pragma once
// Which runs of a region of points are worth a merge: files keep to windows of time, so that new
// data leaves old files alone (spec region-store.md C8). Pure.
//
// A flush leaves a run for each of the days that most of its rows are of, and one for all other
// rows. Runs of a day are merged some eight at a time, what is left of them when the day is over; a
// window of 8 days that is over is made one run, then one of 64 days: in order, a row is rewritten
// three times for ever. Rows that come late wait in runs that are wider than any window until there
// are eight of those; divided by windows, they are merged with each other, and with the old run
// only when they are together of its size.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/region/merge_policy.h"

namespace hg::region {

/// Places of runs in a list that is newest first, rising.
using Picked = std::vector<size_t>;

/// What to merge. What is written takes the place of the newest of them. Empty: nothing.
Picked RunsToJoin(std::span<const RunFacts> newest_first, const MergePolicy& policy,
                  int64_t now_ms);

/// Whether they may be merged without the runs between them: none of these has rows in common with
/// an older one of them, whose rows would become newer.
bool MayJoin(std::span<const RunFacts> newest_first, const Picked& picked);

/// No older run than any of them has rows in common with it.
bool IsBottom(std::span<const RunFacts> newest_first, const Picked& picked);

/// In how many runs a row may be at most.
size_t Depth(std::span<const RowSpan> runs);

/// How long after its end a window is joined: regions at different times, a while after the last
/// regular flush. `number`: of its oldest run.
int64_t WindowRestMs(const Window& window, uint64_t number);

}  // namespace hg::region
