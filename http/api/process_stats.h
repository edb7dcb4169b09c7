#pragma once
// Reads statistics of this process from /proc. OpenTSDB's /api/stats shows numbers of its Java
// virtual machine; Hourglass shows these statistics in their place. /metrics shows them as
// process_*.

#include <cstdint>
#include <string>
#include <vector>

namespace hg::http {

struct ThreadStats {
  int id = 0;
  std::string name;
  // The state of the thread as in /proc/<pid>/stat: R means running; S and D mean waiting.
  char state = 'S';
  int priority = 0;
};

/// Statistics of this process. If a value cannot be read, it is zero or empty.
struct ProcessStats {
  uint64_t memory_resident_bytes = 0;
  uint64_t memory_available_bytes = 0;  // memory of the whole machine that is available, in bytes
  uint64_t memory_total_bytes = 0;      // total memory of the whole machine, in bytes
  uint64_t memory_virtual_bytes = 0;
  int64_t uptime_ms = 0;
  /// Start of the process in seconds since the epoch, computed from the boot time.
  double start_time_s = 0;
  double cpu_seconds = 0;  // CPU time in user and system mode of all threads, in seconds
  int64_t open_files = 0, open_files_max = 0;
  std::vector<ThreadStats> threads;
};

ProcessStats ReadProcessStats();

}  // namespace hg::http
