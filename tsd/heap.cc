#include "tsd/heap.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace hg::tsd {
namespace {

constexpr int kOwnPagesBytesMin = 256 << 10;
constexpr int kSparePagesBytesMax = 8 << 20;

}  // namespace

uint64_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  uint64_t all_pages = 0, resident_pages = 0;
  if (!(in >> all_pages >> resident_pages)) return 0;
  return resident_pages * static_cast<uint64_t>(std::max(1L, sysconf(_SC_PAGE_SIZE)));
}

// By default, glibc uses up to eight arenas per core, and memory freed in one arena cannot be used
// by others. With this default, the process held three times as much memory under many large
// queries (tests/load/everything.py). With one arena per core, event loops and pool threads would
// often wait for the lock of an arena, because more threads than cores allocate memory.
//
// Each arena keeps a few megabytes of free memory. If an arena kept none, each larger query would
// request pages from the system and return them, which takes a fifth of the query's processor time.
//
// Fast bins are off. With fast bins, pool threads would free the millions of small blocks of a
// large request into fast bins. During a later large malloc or free, glibc merges the blocks of all
// fast bins of an arena. On an event loop, this merge would block all connections of the loop for
// hundreds of milliseconds.
Heap::Heap(uint64_t memory_limit_bytes) : growth_bytes_(memory_limit_bytes / 8) {
  constexpr unsigned kArenasPerCore = 2;
  mallopt(M_ARENA_MAX,
          static_cast<int>(kArenasPerCore * std::max(1U, std::thread::hardware_concurrency())));
  mallopt(M_MMAP_THRESHOLD, kOwnPagesBytesMin);
  mallopt(M_TRIM_THRESHOLD, kSparePagesBytesMax);
  mallopt(M_MXFAST, 0);
}

// free() returns memory only from the end of an arena. So one small block after the memory of a
// document of a hundred megabytes prevents the return of all this memory. malloc_trim also returns
// free pages before such a block.
void Heap::Trim() {
  const uint64_t resident_bytes = ResidentBytes();
  lowest_bytes_ = std::min(lowest_bytes_, resident_bytes);
  if (resident_bytes - lowest_bytes_ < growth_bytes_) return;
  malloc_trim(0);
  lowest_bytes_ = ResidentBytes();
}

}  // namespace hg::tsd
