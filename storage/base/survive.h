#pragma once
// Converts exceptions to error Statuses. Background work, and work for which other threads wait,
// runs inside Survive. Unless there is a bug, such an exception means that memory could not be
// allocated. The caller logs, counts and retries it like other failures of that work
// (region-store.md O1), so the exception stops neither the process nor the waiting threads.

#include <exception>
#include <type_traits>

#include "storage/base/status.h"

namespace hg {

namespace internal {
/// Returns Unavailable with the text of the exception. Does not throw, even without memory.
Status BrokenOff(const std::exception& thrown) noexcept;
}  // namespace internal

/// Runs `work` and returns its Status or Result, or ok if it returns void. Returns Unavailable if
/// `work` threw an exception. A thread survives allocation failures if everything that it does
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
