// Flushes and merges everything in a data directory, as the daemon left it: what its files take at
// their smallest.
//
//   compact_store FOLDER
//
// Last line: seconds of processor that the merges took, and bytes of all files of runs.

#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "storage/points/embedded.h"

namespace {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

void Die(const hg::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "compact_store: %s\n", status.ToString().c_str());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: compact_store FOLDER\n");
    return 2;
  }
  hg::EmbeddedOptions options;
  options.path = argv[1];
  options.memory_limit_bytes = uint64_t{8} << 30;
  options.background = false;
  auto store = hg::Embedded::Open(options);
  Die(store.status());
  Die((*store)->cells().Flush());
  const double from = CpuSeconds();
  Die((*store)->cells().Compact());
  const double merged = CpuSeconds() - from;
  Die((*store)->Check());
  const uint64_t bytes = (*store)->Stats().file_bytes;
  Die((*store)->Close());
  std::printf("merge_seconds %.3f bytes %llu\n", merged, (unsigned long long)bytes);
  return 0;
}
