#include "storage/base/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace hg {

void InvariantFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s\n", file, line, condition);
  std::abort();
}

}  // namespace hg
