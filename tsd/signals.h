#pragma once
// The signals that steer the daemon, taken by one thread instead of by handlers.

#include <signal.h>

#include <cstdint>

#include "storage/base/clock.h"

namespace hg::tsd {

/// SIGTERM and SIGINT (stop) and SIGHUP (reload). Made on the main thread before any other exists,
/// which then alone waits for them.
class Signals {
 public:
  /// Blocks them in this thread and all that it starts from now on.
  Signals();

  /// The next one; 0 if none came meanwhile.
  [[nodiscard]] int Wait(int64_t patience_ms) const;
  /// Until one of those to stop came, or the time is over.
  void WaitForStop(const Clock& clock, int64_t patience_ms) const;

  static bool IsStop(int signal) { return signal == SIGTERM || signal == SIGINT; }

 private:
  sigset_t set_;
};

}  // namespace hg::tsd
