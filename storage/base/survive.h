#pragma once
// Converts exceptions to error Statuses. Survive runs background work, and work for which other
// threads wait. Unless there is a bug, an exception in this work means that memory could not be
// allocated. The caller logs, counts and retries the failure like other failures of that work
// (region-store.md O1), so the exception stops neither the process nor the waiting threads.

#include <exception>
#include <type_traits>

#include "storage/base/status.h"

namespace hg {

namespace internal {
/// Returns Unavailable with the text of the exception. Does not throw, even if no memory can be
/// allocated.
Status BrokenOff(const std::exception& thrown) noexcept;
}  // namespace internal

/// Runs `work` and returns its Status or Result, or ok if `work` returns void. Returns Unavailable
/// if `work` threw an exception. A thread survives allocation failures if all code of the thread
/// either runs inside Survive or allocates nothing.
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
