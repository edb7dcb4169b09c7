#pragma once
// Measures the processor time of a thread. Other load on the machine has no influence on it.

#include <ctime>

namespace hg {

/// Runs `work` and returns the seconds of processor time that the calling thread used for it.
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
