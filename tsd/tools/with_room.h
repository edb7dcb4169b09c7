#pragma once
// Repeats writes of a tool that the store refuses because its memory is full.

#include "storage/base/status.h"
#include "storage/store.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {

/// Runs `write`, which returns a Status or a Result and must be repeatable. If the store refuses it
/// because memory is full (for new series or for all points), flushes the store and runs it again,
/// at most kBusyRetries times.
template <typename Write>
auto WithRoom(Store& store, const Write& write) -> decltype(write()) {
  const auto refused = [](const auto& result) {
    const StatusCode code = [&] {
      if constexpr (requires { result.status(); })
        return result.status().code();
      else
        return result.code();
    }();
    return code == StatusCode::kBusy || code == StatusCode::kExhausted;
  };
  auto result = write();
  for (int i = 0; i < kBusyRetries && refused(result); ++i) {
    const Status flushed = store.Flush();
    if (flushed.code() == StatusCode::kUnsupported) return result;
    RETURN_IF_ERROR(flushed);
    result = write();
  }
  return result;
}

}  // namespace hg::tsd
