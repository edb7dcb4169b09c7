#include "storage/region/merge_policy.h"

#include <algorithm>
#include <limits>

#include "storage/region/spread.h"

namespace hg::region {
namespace {

constexpr int64_t kHourMs = 3'600'000;
// Factor by which another slice must remove more parts per byte to replace the best slice. Used if
// there are too many parts.
constexpr double kBetterBy = 1.05;
// The maximum unused time that Pace credits.
constexpr double kSavedMs = 100;

bool OfLikeSize(std::span<const uint64_t> runs, uint64_t total, double ratio) {
  return std::all_of(runs.begin(), runs.end(), [&](uint64_t bytes) {
    return static_cast<double>(bytes) <= ratio * static_cast<double>(total - bytes);
  });
}

Slice References(std::span<const RunFacts> runs) {
  Slice slice;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].reference) continue;
    if (slice.empty()) slice.begin = i;
    slice.end = i + 1;
  }
  return slice;
}

}  // namespace

bool MajorIsDue(std::span<const RunFacts> runs, const MergePolicy& policy, int64_t now_ms) {
  if (policy.major_period_ms == 0) return false;
  if (std::none_of(runs.begin(), runs.end(), [](const RunFacts& run) { return run.marks; })) {
    return false;
  }
  const RunFacts& oldest = runs.back();
  return now_ms - oldest.made_ms >= MajorPeriodMs(policy, oldest.number);
}

bool MostHasExpired(std::span<const RunFacts> runs) {
  uint64_t bytes = 0, expired = 0;
  for (const RunFacts& run : runs) {
    bytes += run.bytes;
    expired += run.expired_bytes;
  }
  return expired > bytes / 2;
}

Slice ExploreRuns(std::span<const uint64_t> runs, const MergePolicy& policy, double ratio,
                  bool stuck) {
  Slice best, smallest;
  uint64_t best_bytes = 0, smallest_bytes = std::numeric_limits<uint64_t>::max();
  const auto runs_per_byte = [](const Slice& slice, uint64_t bytes) {
    return static_cast<double>(slice.size()) / static_cast<double>(std::max<uint64_t>(bytes, 1));
  };
  for (size_t begin = 0; begin < runs.size(); ++begin) {
    uint64_t bytes = 0;
    for (size_t end = begin + 1; end <= std::min(runs.size(), begin + policy.runs_max); ++end) {
      bytes += runs[end - 1];
      const Slice slice{begin, end};
      if (slice.size() < policy.runs_min) continue;
      if (stuck && bytes < smallest_bytes) {
        smallest = slice;
        smallest_bytes = bytes;
      }
      if (bytes >= policy.small_bytes &&
          !OfLikeSize(runs.subspan(begin, slice.size()), bytes, ratio)) {
        continue;
      }
      bool better =
          slice.size() > best.size() || (slice.size() == best.size() && bytes < best_bytes);
      if (stuck && !best.empty()) {
        better = runs_per_byte(slice, bytes) > kBetterBy * runs_per_byte(best, best_bytes);
      }
      if (!better) continue;
      best = slice;
      best_bytes = bytes;
    }
  }
  return best.empty() ? smallest : best;
}

Slice RunsToMerge(std::span<const RunFacts> runs, const MergePolicy& policy, int64_t now_ms) {
  const bool busy =
      std::any_of(runs.begin(), runs.end(), [](const RunFacts& run) { return run.merging; });
  if (!busy) {
    if (const Slice references = References(runs); !references.empty()) return references;
  }
  // Only adjacent parts are merged, which keeps the order of writes. While a merge runs, only parts
  // newer than all its inputs may be merged (region-store.md C3).
  size_t newer = 0;
  while (newer < runs.size() && !runs[newer].merging && !runs[newer].reference) ++newer;
  std::vector<uint64_t> bytes;
  for (size_t i = newer; i > 0; --i) bytes.push_back(runs[i - 1].bytes);
  const Slice found =
      ExploreRuns(bytes, policy, RatioAt(policy, now_ms), runs.size() >= policy.runs_blocking);
  if (!found.empty()) return {newer - found.end, newer - found.begin};
  if (!busy && !runs.empty() && (MajorIsDue(runs, policy, now_ms) || MostHasExpired(runs))) {
    return {0, runs.size()};
  }
  return {};
}

int64_t MajorPeriodMs(const MergePolicy& policy, uint64_t number) {
  return policy.major_period_ms +
         static_cast<int64_t>(static_cast<double>(policy.major_period_ms) * policy.major_jitter *
                              (2 * Spread(number) - 1));
}

double RatioAt(const MergePolicy& policy, int64_t now_ms) {
  const auto hour = static_cast<int>(now_ms / kHourMs % 24);
  const int begin = policy.off_peak_begin, end = policy.off_peak_end;
  const bool off_peak = begin <= end ? hour >= begin && hour < end : hour >= begin || hour < end;
  return off_peak ? policy.off_peak_ratio : policy.ratio;
}

uint64_t MergeBytesPerS(const MergePolicy& policy, size_t runs) {
  if (policy.bytes_per_s_low == 0 || runs >= policy.runs_blocking) return 0;
  if (runs <= policy.runs_min || policy.runs_blocking <= policy.runs_min) {
    return policy.bytes_per_s_low;
  }
  const double pressure = static_cast<double>(runs - policy.runs_min) /
                          static_cast<double>(policy.runs_blocking - policy.runs_min);
  const auto low = static_cast<double>(policy.bytes_per_s_low);
  const auto high = static_cast<double>(std::max(policy.bytes_per_s_high, policy.bytes_per_s_low));
  return static_cast<uint64_t>(low + (high - low) * pressure);
}

int64_t Pace::DelayMs(uint64_t bytes, uint64_t bytes_per_s, int64_t now_ms) {
  MutexLock lock(mutex_);
  const auto now = static_cast<double>(now_ms);
  free_at_ms_ = std::max(free_at_ms_, now - kSavedMs);
  if (bytes_per_s == 0) return 0;
  free_at_ms_ += static_cast<double>(bytes) * 1000 / static_cast<double>(bytes_per_s);
  return std::max<int64_t>(0, static_cast<int64_t>(free_at_ms_ - now));
}

}  // namespace hg::region
