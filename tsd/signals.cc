#include "tsd/signals.h"

#include <pthread.h>

#include <ctime>
#include <initializer_list>

namespace hg::tsd {

Signals::Signals() {
  sigemptyset(&set_);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, signal);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  // SIGPIPE is ignored, so that a write to a closed connection fails and does not end the process.
  signal(SIGPIPE, SIG_IGN);
}

int Signals::Wait(int64_t patience_ms) const {
  const timespec patience{patience_ms / 1000, patience_ms % 1000 * 1'000'000};
  const int signal = sigtimedwait(&set_, nullptr, &patience);
  return signal > 0 ? signal : 0;
}

void Signals::WaitForStop(const Clock& clock, int64_t patience_ms) const {
  const int64_t end_ns = clock.MonotonicNs() + patience_ms * 1'000'000;
  for (;;) {
    const int64_t left_ms = (end_ns - clock.MonotonicNs()) / 1'000'000;
    if (left_ms <= 0 || IsStop(Wait(left_ms))) return;
  }
}

}  // namespace hg::tsd
