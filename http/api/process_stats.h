#pragma once
// Statistics of this process from /proc. /api/stats shows them in place of the numbers of a Java
// virtual machine, /metrics as process_*.

#include <cstdint>
#include <string>
#include <vector>

namespace hg::http {

struct ThreadStats {
  int id = 0;
  std::string name;
  // State of the process as in /proc/<pid>/stat: R is running, S and D are waiting.
  char state = 'S';
  int priority = 0;
};

/// Values that cannot be read are zero or empty.
struct ProcessStats {
  uint64_t memory_resident_bytes = 0;
  uint64_t memory_available_bytes = 0;  // on the whole machine
  uint64_t memory_total_bytes = 0;      // on the whole machine
  uint64_t memory_virtual_bytes = 0;
  int64_t uptime_ms = 0;
  double start_time_s = 0;  // seconds since the epoch, computed from the machine's boot time
  double cpu_seconds = 0;   // user and system time of all threads
  int64_t open_files = 0, open_files_max = 0;
  std::vector<ThreadStats> threads;
};

ProcessStats ReadProcessStats();

}  // namespace hg::http
