#pragma once
// What the measuring programs share: processor time, and an end at the first failure.

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace hg::bench {

/// Seconds of processor that a clock has counted.
inline double CpuSeconds(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
/// Of the calling thread: what others do on the machine does not count.
inline double ThreadCpuSeconds() { return CpuSeconds(CLOCK_THREAD_CPUTIME_ID); }

/// Says what is wrong on standard error and exits.
[[noreturn]] inline void Die(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}
/// Returns if the status (hg::Status) is good.
template <typename Status>
void DieUnlessOk(const Status& status) {
  if (!status.ok()) Die(status.ToString());
}

}  // namespace hg::bench
