#pragma once
// Helper functions of the benchmark programs. They read the CPU time, and exit the program at the
// first failure.

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace hg::bench {

/// Returns the time of a CPU clock in seconds, or 0 if the clock cannot be read.
inline double CpuSeconds(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
/// Returns the processor time of the calling thread in seconds. Other load on the machine does not
/// change this time.
inline double ThreadCpuSeconds() { return CpuSeconds(CLOCK_THREAD_CPUTIME_ID); }

/// Prints the message to standard error and exits the program.
[[noreturn]] inline void Die(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}
/// Exits the program with a message unless `status` (a hg::Status) is OK.
template <typename Status>
void DieUnlessOk(const Status& status) {
  if (!status.ok()) Die(status.ToString());
}

}  // namespace hg::bench
