#pragma once
// Logs events in which credentials of a client were rejected.

#include <cstdint>
#include <mutex>

#include "http/access/access.h"
#include "storage/base/clock.h"

namespace hg::tsd {

/// Logs at most one event per second, and only counts all other events. Thus an attacker who tries
/// many passwords cannot fill the disk with log lines. The object is thread-safe.
class AccessLog {
 public:
  /// `clock` must outlive the object.
  explicit AccessLog(const Clock& clock) : clock_(clock) {}

  void Refused(const http::AccessRefusal& refusal);

 private:
  const Clock& clock_;
  std::mutex mutex_;
  int64_t next_ns_ = 0;  // nothing is logged before this monotonic time; guarded by mutex_
  int64_t untold_ = 0;   // number of events that were not logged; guarded by mutex_
};

}  // namespace hg::tsd
