#pragma once
// This process as the system sees it (/proc): what stands in for a virtual machine's numbers in
// /api/stats, and process_* of /metrics.

#include <cstdint>
#include <string>
#include <vector>

namespace hg::http {

struct ThreadStats {
  int id = 0;
  std::string name;
  char state = 'S';  // as in /proc/<pid>/stat: R runs, S and D wait
  int priority = 0;
};

/// What cannot be read is zero or empty.
struct ProcessStats {
  uint64_t memory_resident_bytes = 0;
  uint64_t memory_available_bytes = 0;  // of the machine
  uint64_t memory_total_bytes = 0;      // of the machine
  uint64_t memory_virtual_bytes = 0;
  int64_t uptime_ms = 0;
  double start_time_s = 0;  // since the epoch, as the machine's clock told when it booted
  double cpu_seconds = 0;   // of all threads, in the kernel too
  int64_t open_files = 0, open_files_max = 0;
  std::vector<ThreadStats> threads;
};

ProcessStats ReadProcessStats();

}  // namespace hg::http
