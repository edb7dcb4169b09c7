#include "tsd/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace hg::tsd {
namespace {

constexpr uint64_t kStoreFilesMax = 1024;

}  // namespace

uint64_t RaiseOpenFilesLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<uint64_t>::max();
  rlimit raised = limit;
  raised.rlim_cur = raised.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

uint64_t ConnectionsWithin(uint64_t open_files_max, uint64_t wanted) {
  const uint64_t most = open_files_max - std::min(open_files_max / 4, kStoreFilesMax);
  return wanted == 0 ? most : std::min(wanted, most);
}

}  // namespace hg::tsd
