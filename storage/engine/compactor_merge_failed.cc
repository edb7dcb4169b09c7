// Delays further merges of a region after a merge of it failed. Merges of other regions continue.

#include <algorithm>

#include "storage/engine/compactor.h"

namespace hg::engine {
namespace {

// The longest wait between two attempts. Each attempt reads the files up to the point of failure.
constexpr int64_t kWaitMaxMs = 3'600'000;

}  // namespace

void Compactor::NoteMerge(const MergeJob& job, const Status& status) {
  if (status.ok()) return ForgetMended();
  const Status why = Prepend(status, NameOf(job.place));
  std::set<uint64_t> numbers;
  uint64_t bytes = 0;
  for (const auto& part : job.parts) {
    numbers.insert(part->entry().number);
    bytes += part->bytes();
  }
  const bool room = env_.files.FreeBytes(env_.options.path) >= bytes;
  MutexLock lock(work_mutex_);
  FailedMerge& failed = failed_merges_[job.place];
  failed.parts = std::move(numbers);
  failed.room_bytes = room ? 0 : bytes;
  failed.wait_ms = failed.wait_ms == 0 ? env_.options.check_interval_ms
                                       : std::min(2 * failed.wait_ms, kWaitMaxMs);
  failed.again_ms = env_.MonotonicMs() + failed.wait_ms;
  failed.why = why;
}

void Compactor::ForgetMended() {
  MutexLock lock(work_mutex_);
  ForgetMendedIn(*file_set_.Pin());
}

// Forgets a failure if its region was split, merged or dropped, or if at least one of its input
// parts is no longer in the region. A successful merge of other parts does not matter.
void Compactor::ForgetMendedIn(const Version& version) {
  std::erase_if(failed_merges_, [&](const auto& failed) {
    const auto at = version.parts.find(failed.first);
    if (at == version.parts.end()) return true;
    size_t left = 0;
    for (const auto& part : at->second) left += failed.second.parts.count(part->entry().number);
    return left < failed.second.parts.size();
  });
}

bool Compactor::MergeFailed(RegionPlace place) const {
  MutexLock lock(work_mutex_);
  return failed_merges_.contains(place);
}

Status Compactor::MergeFailure() const {
  MutexLock lock(work_mutex_);
  if (failed_merges_.empty()) return {};
  const Status& first = failed_merges_.begin()->second.why;
  const size_t others = failed_merges_.size() - 1;
  if (others == 0) return first;
  return {first.code(), std::string(first.message()) + " (merges in " + std::to_string(others) +
                            " more regions failed, too)"};
}

}  // namespace hg::engine
