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

bool OfLikeSize(std::span<const uint64_t> parts, uint64_t total, double ratio) {
  return std::all_of(parts.begin(), parts.end(), [&](uint64_t bytes) {
    return static_cast<double>(bytes) <= ratio * static_cast<double>(total - bytes);
  });
}

Slice References(std::span<const PartFacts> parts) {
  Slice slice;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].reference) continue;
    if (slice.empty()) slice.begin = i;
    slice.end = i + 1;
  }
  return slice;
}

}  // namespace

bool MajorIsDue(std::span<const PartFacts> parts, const MergePolicy& policy, int64_t now_ms) {
  if (policy.major_period_ms == 0) return false;
  if (std::none_of(parts.begin(), parts.end(),
                   [](const PartFacts& part) { return part.tombstones; })) {
    return false;
  }
  const PartFacts& oldest = parts.back();
  return now_ms - oldest.made_ms >= MajorPeriodMs(policy, oldest.number);
}

bool MostHasExpired(std::span<const PartFacts> parts) {
  uint64_t bytes = 0, expired = 0;
  for (const PartFacts& part : parts) {
    bytes += part.bytes;
    expired += part.expired_bytes;
  }
  return expired > bytes / 2;
}

Slice ExploreParts(std::span<const uint64_t> parts, const MergePolicy& policy, double ratio,
                   bool stuck) {
  Slice best, smallest;
  uint64_t best_bytes = 0, smallest_bytes = std::numeric_limits<uint64_t>::max();
  const auto parts_per_byte = [](const Slice& slice, uint64_t bytes) {
    return static_cast<double>(slice.size()) / static_cast<double>(std::max<uint64_t>(bytes, 1));
  };
  for (size_t begin = 0; begin < parts.size(); ++begin) {
    uint64_t bytes = 0;
    for (size_t end = begin + 1; end <= std::min(parts.size(), begin + policy.parts_max); ++end) {
      bytes += parts[end - 1];
      const Slice slice{begin, end};
      if (slice.size() < policy.parts_min) continue;
      if (stuck && bytes < smallest_bytes) {
        smallest = slice;
        smallest_bytes = bytes;
      }
      if (bytes >= policy.small_bytes &&
          !OfLikeSize(parts.subspan(begin, slice.size()), bytes, ratio)) {
        continue;
      }
      bool better =
          slice.size() > best.size() || (slice.size() == best.size() && bytes < best_bytes);
      if (stuck && !best.empty()) {
        better = parts_per_byte(slice, bytes) > kBetterBy * parts_per_byte(best, best_bytes);
      }
      if (!better) continue;
      best = slice;
      best_bytes = bytes;
    }
  }
  return best.empty() ? smallest : best;
}

Slice PartsToMerge(std::span<const PartFacts> parts, const MergePolicy& policy, int64_t now_ms) {
  const bool busy =
      std::any_of(parts.begin(), parts.end(), [](const PartFacts& part) { return part.merging; });
  if (!busy) {
    if (const Slice references = References(parts); !references.empty()) return references;
  }
  // Only adjacent parts are merged, which keeps the order of writes. While a merge runs, only parts
  // newer than all its inputs may be merged (region-store.md C3).
  size_t newer = 0;
  while (newer < parts.size() && !parts[newer].merging && !parts[newer].reference) ++newer;
  std::vector<uint64_t> bytes;
  for (size_t i = newer; i > 0; --i) bytes.push_back(parts[i - 1].bytes);
  const Slice found =
      ExploreParts(bytes, policy, RatioAt(policy, now_ms), parts.size() >= policy.parts_blocking);
  if (!found.empty()) return {newer - found.end, newer - found.begin};
  if (!busy && !parts.empty() && (MajorIsDue(parts, policy, now_ms) || MostHasExpired(parts))) {
    return {0, parts.size()};
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

uint64_t MergeBytesPerS(const MergePolicy& policy, size_t parts) {
  if (policy.bytes_per_s_low == 0 || parts >= policy.parts_blocking) return 0;
  if (parts <= policy.parts_min || policy.parts_blocking <= policy.parts_min) {
    return policy.bytes_per_s_low;
  }
  const double pressure = static_cast<double>(parts - policy.parts_min) /
                          static_cast<double>(policy.parts_blocking - policy.parts_min);
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
