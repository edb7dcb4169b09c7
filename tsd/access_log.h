#pragma once
// Logs rejected credentials of clients.

#include <cstdint>
#include <mutex>

#include "http/access/access.h"
#include "storage/base/clock.h"

namespace hg::tsd {

/// Logs at most one event per second and only counts the other events, so an attacker who tries
/// many passwords cannot fill the disk with log lines. Thread-safe.
class AccessLog {
 public:
  /// The clock must outlive the object.
  explicit AccessLog(const Clock& clock) : clock_(clock) {}

  void Refused(const http::AccessRefusal& refusal);

 private:
  const Clock& clock_;
  std::mutex mutex_;
  int64_t next_ns_ = 0;  // guarded by mutex_; nothing is logged before this time
  int64_t untold_ = 0;   // guarded by mutex_; number of events that were not logged
};

}  // namespace hg::tsd
