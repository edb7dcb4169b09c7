#pragma once
// Measures the processor time that a thread uses. Other load on the machine does not change this
// time.

#include <ctime>

namespace hg {

/// Runs `work`, and returns the processor time in seconds that the calling thread used for `work`.
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
