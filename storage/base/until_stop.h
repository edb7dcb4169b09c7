#pragma once
// The request context of work that runs until its server stops.

#include <atomic>

#include "storage/base/request_context.h"

namespace hg {

/// A request context without limits. When the flag `stopping` is set, Step ends the work with
/// Unavailable. Thread-safe.
class UntilStop final : public RequestContext {
 public:
  /// The flag `stopping` must outlive the object.
  explicit UntilStop(const std::atomic<bool>& stopping) : stopping_(stopping) {}
  Status Step(uint64_t) override {
    return stopping_.load(std::memory_order_relaxed)
               ? Status::Unavailable("The server is stopping. Please try again later.")
               : Status();
  }
  Status Charge(int64_t) override { return {}; }

 private:
  const std::atomic<bool>& stopping_;
};

}  // namespace hg
