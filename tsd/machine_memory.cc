#include "tsd/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

namespace hg::tsd {
namespace {

/// Reads a file with one number. Returns nullopt if it is missing or contains "max".
std::optional<uint64_t> ReadNumber(const char* path) {
  std::ifstream in(path);
  uint64_t value = 0;
  if (!(in >> value)) return std::nullopt;
  return value;
}

}  // namespace

uint64_t MachineMemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  uint64_t bytes = uint64_t{1} << 30;
  if (pages > 0 && page_bytes > 0)
    bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
  // Control groups version 2, then version 1, at the paths that a container sees.
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (auto limit = ReadNumber(path); limit && *limit > 0) bytes = std::min(bytes, *limit);
  return bytes;
}

}  // namespace hg::tsd
