#include "storage/base/survive.h"

#include <string>

namespace hg::internal {
namespace {

// This status is created at the start of the process, while memory is available.
const Status kNoMemory = Status::Unavailable("broken off: no memory");

}  // namespace

Status BrokenOff(const std::exception& thrown) noexcept {
  try {
    return Status::Unavailable(std::string("broken off: ") + thrown.what());
  } catch (const std::exception&) {
    return kNoMemory;
  }
}

}  // namespace hg::internal
