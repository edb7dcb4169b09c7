#pragma once
// Selects the parts of a region to merge and limits the write rate of merges (region-store.md C2 to
// C6). A part is the files that one flush or merge wrote for one region and time window. All
// functions are pure. Sizes are in bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/thread_annotations.h"
#include "storage/region/row_windows.h"

namespace hg::region {

struct MergePolicy {
  size_t parts_min = 3;   // minimum number of parts that ExploreParts selects
  size_t parts_max = 10;  // maximum number of parts in a merge; each is an open file
  // A part in a merge is at most this many times as large as all other parts of the merge together.
  double ratio = 1.2;
  double off_peak_ratio = 5.0;
  int off_peak_begin = 0, off_peak_end = 0;  // hours of the day, UTC; equal = no off-peak hours
  // Parts whose total size is smaller than this are merged whatever their size ratio is.
  uint64_t small_bytes = uint64_t{16} << 20;
  // If a region has this number of parts, flushes wait for merges, and any merge is allowed.
  size_t parts_blocking = 16;
  // Merges of more bytes than this run on a separate thread.
  uint64_t large_bytes = uint64_t{5} << 29;
  // The period of automatic major merges in ms. 0 means that there are no automatic major merges.
  int64_t major_period_ms = int64_t{7} * 24 * 3'600'000;
  // Major merges run earlier or later by at most this fraction of the period.
  double major_jitter = 0.5;
  // Limits for the rate at which merges write, in bytes per second (MergeBytesPerS).
  uint64_t bytes_per_s_low = uint64_t{50} << 20;    // if no region has many parts; 0 = no limit
  uint64_t bytes_per_s_high = uint64_t{100} << 20;  // if a region has nearly parts_blocking parts
};

/// A selection of neighbouring parts: the indexes [begin, end) in the list of parts of a region.
struct Slice {
  size_t begin = 0;
  size_t end = 0;

  [[nodiscard]] bool empty() const { return begin == end; }
  [[nodiscard]] size_t size() const { return end - begin; }
  bool operator==(const Slice&) const = default;
};

/// Selects parts as HBase's exploring selection does, from parts that are adjacent in time, oldest
/// first. Candidates are slices that are small or whose parts have similar sizes. Returns the slice
/// with the most parts. If several slices have the most parts, returns the one with the fewest
/// bytes. `stuck` means that there are too many parts. In this case, the function prefers the slice
/// that removes the most parts per byte. If `stuck` is true and there are no candidates, the
/// function returns the smallest slice.
Slice ExploreParts(std::span<const uint64_t> oldest_first, const MergePolicy& policy, double ratio,
                   bool stuck);

/// The properties of a part that the merge policy needs.
struct PartFacts {
  uint64_t number = 0;
  uint64_t bytes = 0;
  int64_t made_ms = 0;
  bool reference = false;
  bool tombstones = false;
  bool merging = false;        // whether a running merge reads the part
  uint64_t expired_bytes = 0;  // bytes whose TTL is over; a merge of all parts removes these bytes
  RowSpan rows = {};
  uint32_t rewrites = 0;  // number of merges that rewrote the part's oldest bytes
  uint64_t first_sequence = 0, last_sequence = 0;  // as in lsm::PartEntry
  bool cells = false;  // whether the part has cells, which have sequence numbers of their own
};

/// Returns whether a major merge is due. It is due if the oldest part that it would merge was
/// written long enough ago. A major merge removes tombstones.
bool MajorIsDue(std::span<const PartFacts> newest_first, const MergePolicy& policy, int64_t now_ms);
/// Returns whether more than half of the bytes in the parts have expired.
bool MostHasExpired(std::span<const PartFacts> parts);

/// Selects the parts of a region to merge. `newest_first` lists the parts of the region. An empty
/// result means that no parts should be merged. The function tries in this order:
/// - all references of a split, with the parts between them
/// - the result of ExploreParts for those parts that are newer than all parts in running merges
/// - all parts, if the removal of tombstones is due or most bytes have expired
///
/// This function is for tables whose rows have no time. For points tables, see window_policy.h.
Slice PartsToMerge(std::span<const PartFacts> newest_first, const MergePolicy& policy,
                   int64_t now_ms);

/// Returns the period, in ms, after which a major merge removes tombstones. `number` is the number
/// of one of the parts. The number determines the jitter, so the period differs between regions and
/// does not change with a restart.
int64_t MajorPeriodMs(const MergePolicy& policy, uint64_t number);

/// Returns the size ratio for this time: policy.off_peak_ratio in off-peak hours, and policy.ratio
/// at other times.
double RatioAt(const MergePolicy& policy, int64_t now_ms);

/// Returns the number of bytes per second that merges may write. `parts_of_fullest` is the number
/// of parts of the region with the most parts. The more parts this region has, the higher is the
/// limit, because too many parts block flushes. 0 means no limit.
uint64_t MergeBytesPerS(const MergePolicy& policy, size_t parts_of_fullest);

/// Spreads writes evenly over time. All callers of one Pace share the rate. Thread-safe.
class Pace {
 public:
  /// Reports that the caller has written `bytes` since its last call. Returns the time, in ms, that
  /// the caller should wait before it writes more.
  int64_t DelayMs(uint64_t bytes, uint64_t bytes_per_s, int64_t now_ms);

 private:
  Mutex mutex_;
  // The time at which a writer with the allowed rate would have written all bytes so far.
  double free_at_ms_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hg::region
