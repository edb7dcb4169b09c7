#pragma once
// Work of background threads, and work that others wait for: what it throws, which is a want of
// memory unless we made a mistake, is a failure of that work, told and counted as its other
// failures are, and tried again as they are (spec region-store.md O1). Neither the process nor
// whoever waits pays for it.

#include <exception>
#include <type_traits>

#include "storage/base/status.h"

namespace hg {

namespace internal {
/// Unavailable, with what was thrown. Throws nothing, however little memory there is.
Status BrokenOff(const std::exception& thrown) noexcept;
}  // namespace internal

/// What the work returns: a Status, a Result, or ok where it is void. Unavailable: it threw. So a
/// thread lives on whose every step is either within, or takes no memory.
template <typename Work>
auto Survive(const Work& work) {
  using Returned = std::invoke_result_t<const Work&>;
  using Outcome = std::conditional_t<std::is_void_v<Returned>, Status, Returned>;
  try {
    if constexpr (std::is_void_v<Returned>) {
      work();
      return Outcome();
    } else {
      return Outcome(work());
    }
  } catch (const std::exception& thrown) {
    return Outcome(internal::BrokenOff(thrown));
  }
}

}  // namespace hg
