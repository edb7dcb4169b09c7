#pragma once
// Which runs of a region are worth a merge, and how fast merges may write (spec region-store.md C2
// to C6). Pure; sizes are bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/region/row_windows.h"

namespace hg::region {

struct MergePolicy {
  size_t runs_min = 3;   // fewer are not worth a merge
  size_t runs_max = 10;  // at once: each is an open file
  double ratio = 1.2;    // a run joins others that are together this much smaller than it
  double off_peak_ratio = 5.0;
  int off_peak_begin = 0, off_peak_end = 0;   // hours of the day, UTC; equal = no such hours
  uint64_t small_bytes = uint64_t{16} << 20;  // together smaller: merged whatever the ratio
  size_t runs_blocking = 16;  // at so many runs flushes wait for merges, and any merge will do
  uint64_t large_bytes = uint64_t{5} << 29;  // larger merges have a thread of their own
  int64_t major_period_ms = int64_t{7} * 24 * 3'600'000;  // 0 = never by itself
  double major_jitter = 0.5;                              // of the period, earlier or later
  uint64_t bytes_per_s_low = uint64_t{50} << 20;  // of background merges; 0 = as fast as they can
  uint64_t bytes_per_s_high = uint64_t{100} << 20;
};

/// Runs [begin, end) of a region's list.
struct Slice {
  size_t begin = 0;
  size_t end = 0;

  [[nodiscard]] bool empty() const { return begin == end; }
  [[nodiscard]] size_t size() const { return end - begin; }
  bool operator==(const Slice&) const = default;
};

/// HBase's exploring selection over runs that are adjacent in time, oldest first: of all slices
/// that are small or whose runs are of like size, the one of most runs, then of fewest bytes.
/// `stuck`: there are too many runs; then the one that gets rid of most runs per byte, and if there
/// is none, the smallest.
Slice ExploreRuns(std::span<const uint64_t> oldest_first, const MergePolicy& policy, double ratio,
                  bool stuck);

/// What the policy must know of a run.
struct RunFacts {
  uint64_t number = 0;
  uint64_t bytes = 0;
  int64_t made_ms = 0;
  bool reference = false;
  bool marks = false;
  bool merging = false;        // a merge has taken it
  uint64_t expired_bytes = 0;  // of its bytes: past their TTL, gone after a merge of all runs
  RowSpan rows = {};
  uint32_t rewrites = 0;  // merges that the oldest of its bytes went through
};

/// Marks have waited long enough: since the oldest run was written.
bool MajorIsDue(std::span<const RunFacts> newest_first, const MergePolicy& policy, int64_t now_ms);
/// Of their bytes.
bool MostHasExpired(std::span<const RunFacts> runs);

/// What to merge of a region, given its runs newest first: all references of a split with what is
/// between them, else what ExploreRuns finds among the runs newer than any that is being merged,
/// else all, where marks have waited long enough or most of the bytes have expired. Empty: nothing.
/// For tables whose rows have no times; for others see window_policy.h.
Slice RunsToMerge(std::span<const RunFacts> newest_first, const MergePolicy& policy,
                  int64_t now_ms);

/// The period after which marks are dropped by a merge of all: spread by a number of the runs, so
/// that not all regions come at once, and not at another time after a restart.
int64_t MajorPeriodMs(const MergePolicy& policy, uint64_t number);

/// Ratio at that time of day.
double RatioAt(const MergePolicy& policy, int64_t now_ms);

/// What merges may write per second while the fullest region has so many runs: more, the closer it
/// is to holding up flushes; 0 = unlimited.
uint64_t MergeBytesPerS(const MergePolicy& policy, size_t runs_of_fullest);

/// Spreads what is written over time. One thread at a time.
class Pace {
 public:
  /// So many bytes were written since the last call. How long to wait before going on.
  int64_t DelayMs(uint64_t bytes, uint64_t bytes_per_s, int64_t now_ms);

 private:
  double free_at_ms_ = 0;  // what was written so far would have taken until then
};

}  // namespace hg::region
