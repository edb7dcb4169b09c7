#pragma once
// This process as the system sees it (/proc): what stands in for a virtual machine's numbers in
// /api/stats.

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
  int64_t uptime_ms = 0;
  std::vector<ThreadStats> threads;
};

ProcessStats ReadProcessStats();

}  // namespace hg::http
