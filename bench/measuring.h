#pragma once
// Functions of the benchmark programs: they read the CPU time, and exit at the first failure.

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace hg::bench {

/// Returns the seconds of processor time that a clock has counted.
inline double CpuSeconds(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
/// Returns the processor time of the calling thread in seconds, independent of other load.
inline double ThreadCpuSeconds() { return CpuSeconds(CLOCK_THREAD_CPUTIME_ID); }

/// Prints the message to standard error and exits.
[[noreturn]] inline void Die(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}
/// Exits with a message unless `status` (a hg::Status) is ok.
template <typename Status>
void DieUnlessOk(const Status& status) {
  if (!status.ok()) Die(status.ToString());
}

}  // namespace hg::bench
