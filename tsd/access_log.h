#pragma once
// Events of the log about clients whose credentials did not help them.

#include <cstdint>
#include <mutex>

#include "http/access/access.h"
#include "storage/base/clock.h"

namespace hg::tsd {

/// At most one event a second, which says how many more there were: who tries many passwords does
/// not fill the disk of the log. Thread-safe.
class AccessLog {
 public:
  /// The clock outlives it.
  explicit AccessLog(const Clock& clock) : clock_(clock) {}

  void Refused(const http::AccessRefusal& refusal);

 private:
  const Clock& clock_;
  std::mutex mutex_;
  int64_t next_ns_ = 0;  // guarded by mutex_: no event before
  int64_t untold_ = 0;   // guarded by mutex_
};

}  // namespace hg::tsd
