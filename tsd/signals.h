#pragma once
// The signals that control the daemon. One thread waits for these signals, and there are no signal
// handlers.

#include <signal.h>

#include <cstdint>

#include "storage/base/clock.h"

namespace hg::tsd {

/// Handles the signals SIGTERM and SIGINT (stop) and SIGHUP (reload). Create the object on the main
/// thread before any other thread exists. The signals are then blocked in all threads, and only the
/// main thread waits for them.
class Signals {
 public:
  /// Blocks SIGTERM, SIGINT and SIGHUP in this thread and in all threads that this thread starts
  /// later. Makes the process ignore SIGPIPE.
  Signals();

  /// Waits at most `patience_ms` milliseconds for a signal, and returns it. Returns 0 if no signal
  /// arrived in this time.
  [[nodiscard]] int Wait(int64_t patience_ms) const;
  /// Waits until a stop signal arrives, but at most `patience_ms` milliseconds.
  void WaitForStop(const Clock& clock, int64_t patience_ms) const;

  static bool IsStop(int signal) { return signal == SIGTERM || signal == SIGINT; }

 private:
  sigset_t set_;
};

}  // namespace hg::tsd
