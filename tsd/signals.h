#pragma once
// The signals that control the daemon. One thread waits for them, and there are no signal handlers.

#include <signal.h>

#include <cstdint>

#include "storage/base/clock.h"

namespace hg::tsd {

/// Handles SIGTERM and SIGINT (stop) and SIGHUP (reload). Create the object on the main thread
/// before any other thread exists, so that the signals are blocked in all threads. Then only the
/// main thread waits for them.
class Signals {
 public:
  /// Blocks these signals in this thread and in all threads that it starts later.
  Signals();

  /// Waits at most `patience_ms` for a signal and returns it. Returns 0 if none arrived in time.
  [[nodiscard]] int Wait(int64_t patience_ms) const;
  /// Waits until a stop signal arrives or the time is over.
  void WaitForStop(const Clock& clock, int64_t patience_ms) const;

  static bool IsStop(int signal) { return signal == SIGTERM || signal == SIGINT; }

 private:
  sigset_t set_;
};

}  // namespace hg::tsd
