#pragma once
// The scans of points that are running. A scan holds a version from its beginning to its end, and
// with it memtables that may have been flushed meanwhile. If writes need the memory of these
// memtables, the store ends the requests of the scans that hold the oldest memtable.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "storage/base/request_context.h"

namespace hg::engine {

/// The running scans of one engine. Thread-safe.
class RunningScans {
 public:
  /// Registers a scan as long as the Registration exists.
  class Registration {
   public:
    /// `after_sequence` is Memtable::after_sequence of the oldest memtable that the scan holds.
    /// `context` is the context of the scan's request, and must outlive the Registration. A scan
    /// without a context is never ended.
    Registration(RunningScans& all, uint64_t after_sequence, RequestContext* context) : all_(all) {
      if (context == nullptr) return;
      std::lock_guard lock(all_.mutex_);
      scan_ = all_.scans_.emplace(after_sequence, context);
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    ~Registration() {
      if (!scan_) return;
      std::lock_guard lock(all_.mutex_);
      all_.scans_.erase(*scan_);
    }

   private:
    friend class RunningScans;
    using Scans = std::multimap<uint64_t, RequestContext*>;
    RunningScans& all_;
    std::optional<Scans::iterator> scan_;
  };

  /// Ends the requests of the scans that hold the oldest memtable (RequestContext::GiveUp), if this
  /// memtable was flushed. If none of these requests can end early, ends the requests of the scans
  /// that hold the next flushed memtable, and so on. `flushed` is the sequence number up to which
  /// memory was flushed. The function calls GiveUp under mutex_ and does not wait. While the
  /// requests have not ended, further calls end no other requests.
  void EndOldest(uint64_t flushed) {
    std::lock_guard lock(mutex_);
    for (auto scan = scans_.begin(); scan != scans_.end() && scan->first < flushed;) {
      bool ends = false;
      const auto next = scans_.upper_bound(scan->first);
      for (; scan != next; ++scan) ends |= scan->second->GiveUp();
      if (ends) return;
    }
  }

 private:
  std::mutex mutex_;
  Registration::Scans scans_;  // by the after_sequence of their oldest memtable; guarded by mutex_
};

}  // namespace hg::engine
