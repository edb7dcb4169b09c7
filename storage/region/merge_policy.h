#pragma once
// Which runs of a region are worth a merge: size tiers over runs that are adjacent in time (spec
// region-store.md C2).

#include <cstddef>
#include <cstdint>
#include <span>

namespace hg::region {

/// Fewer runs are not merged; more not at once (each is read by one open file).
inline constexpr size_t kMergeMin = 4;
inline constexpr size_t kMergeMax = 10;
/// Above so many runs of a region they are merged whatever their sizes: every read looks into each.
inline constexpr size_t kRunsMax = 24;

/// `bytes`: sizes of the runs, newest first. How many, from the newest on, to merge: 0 or at least
/// kMergeMin. A run joins if it is not much larger than all newer ones together, so that each byte
/// is rewritten a logarithmic number of times.
size_t RunsToMerge(std::span<const uint64_t> bytes);

}  // namespace hg::region
