#pragma once
// Statistics of this process from /proc. /api/stats shows them in place of the numbers of a Java
// virtual machine, and /metrics shows them as process_*.

#include <cstdint>
#include <string>
#include <vector>

namespace hg::http {

struct ThreadStats {
  int id = 0;
  std::string name;
  // State of the process in /proc/<pid>/stat: R means running, S and D mean waiting.
  char state = 'S';
  int priority = 0;
};

/// Statistics of this process. A value that cannot be read is zero or empty.
struct ProcessStats {
  uint64_t memory_resident_bytes = 0;
  uint64_t memory_available_bytes = 0;  // memory of the whole machine
  uint64_t memory_total_bytes = 0;      // memory of the whole machine
  uint64_t memory_virtual_bytes = 0;
  int64_t uptime_ms = 0;
  double start_time_s = 0;  // seconds since the epoch, computed from the machine's boot time
  double cpu_seconds = 0;   // user and system time of all threads
  int64_t open_files = 0, open_files_max = 0;
  std::vector<ThreadStats> threads;
};

ProcessStats ReadProcessStats();

}  // namespace hg::http
