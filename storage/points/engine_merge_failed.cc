// Regions that cannot be merged for now: they are put aside, and all others go on.

#include <algorithm>

#include "storage/points/engine.h"
#include "storage/region/pre_split.h"

namespace hg::points {
namespace {

// However often a region has failed it is tried again after so long. Each try reads its files up to
// where it fails.
constexpr int64_t kWaitMaxMs = 3'600'000;

}  // namespace

void Engine::NoteMerge(RegionPlace place, const Status& status) {
  const Status why = status.ok() ? Status() : Prepend(status, NameOf(place));
  std::lock_guard lock(work_mutex_);
  if (why.ok()) {
    failed_merges_.erase(place);
    return;
  }
  FailedMerge& failed = failed_merges_[place];
  failed.wait_ms =
      failed.wait_ms == 0 ? options_.check_interval_ms : std::min(2 * failed.wait_ms, kWaitMaxMs);
  failed.again_ms = MonotonicMs() + failed.wait_ms;
  failed.why = why;
}

bool Engine::MergeFailed(RegionPlace place) const {
  std::lock_guard lock(work_mutex_);
  return failed_merges_.contains(place);
}

Status Engine::MergeFailure() const {
  std::lock_guard lock(work_mutex_);
  if (failed_merges_.empty()) return {};
  const Status& first = failed_merges_.begin()->second.why;
  const size_t others = failed_merges_.size() - 1;
  if (others == 0) return first;
  return {first.code(), std::string(first.message()) + " (and " + std::to_string(others) +
                            " more regions cannot be merged)"};
}

std::string Engine::NameOf(RegionPlace place) const {
  const Table* const table = TableById(place.first);
  if (table == nullptr) return "series";
  const auto version = Pin();
  const region::RegionMap& regions = version->RegionsOf(place.first);
  std::string name = "table " + table->descriptor.name;
  if (const auto index = regions.IndexOfId(place.second)) {
    name += ", region [" + region::KeyText(regions.Start(*index)) + ", " +
            region::KeyText(regions.Stop(*index)) + ")";
  }
  return name;
}

}  // namespace hg::points
