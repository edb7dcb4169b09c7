#pragma once
// The long calls of /api/admin that are running. A long call occupies a thread until it ends, and
// most long calls hold a lock of the store. Therefore, only one call of each name may run at a
// time.

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "storage/base/thread_annotations.h"

namespace hg::http {

/// The running calls. The object is thread-safe.
class AdminCalls {
 public:
  struct Release {
    void operator()(AdminCalls* calls) const {
      const MutexLock lock(calls->mutex_);
      calls->running_.erase(call);
    }
    std::string call;
  };
  /// The permission to run a call. The call counts as running as long as its slot exists. nullptr:
  /// the call may not run.
  using Slot = std::unique_ptr<AdminCalls, Release>;

  /// Returns a slot for a call, or nullptr if a call with this name is already running. The slot
  /// must not outlive the AdminCalls object.
  Slot Begin(const std::string& call) {
    Release release{call};
    const MutexLock lock(mutex_);
    return {running_.insert(call).second ? this : nullptr, std::move(release)};
  }

 private:
  Mutex mutex_;
  std::set<std::string> running_ GUARDED_BY(mutex_);
};

}  // namespace hg::http
