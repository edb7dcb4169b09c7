#pragma once
// Measures the processor time of a thread, independent of other load on the machine.

#include <ctime>

namespace hg {

/// Seconds of processor time that the calling thread uses for `work`.
template <typename Work>
double CpuSecondsOf(Work work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  const double begun = now();
  work();
  return now() - begun;
}

}  // namespace hg
