#pragma once
// A RequestContext for tests. A test sets its limits, and the object counts the work and the memory
// that were charged.

#include <atomic>
#include <cstdint>

#include "storage/base/request_context.h"

namespace hg {

/// The context of a request without limits.
inline RequestContext& unlimited = RequestContext::Unlimited();

/// A request context for tests. The object is thread-safe. Set the limits before other threads use
/// the object.
class FakeWatch : public RequestContext {
 public:
  uint64_t steps_max = UINT64_MAX;
  uint64_t checks_max = UINT64_MAX;
  int64_t bytes_max = INT64_MAX;
  std::atomic<uint64_t> steps{0}, checks{0};
  std::atomic<int64_t> bytes{0}, bytes_most{0};

  /// After a call of StayOnLoop, MayWait returns Busy. Call StayOnLoop before other threads use the
  /// object.
  using RequestContext::StayOnLoop;

  bool gives_up = true;  // whether GiveUp returns true, as if it had ended the request
  std::atomic<bool> gave_up{false};

  bool GiveUp() override {
    gave_up = gives_up;
    return gives_up;
  }
  Status Step(uint64_t more) override {
    return (steps += more) > steps_max ? Status::DeadlineExceeded("too many steps") : Status();
  }
  Status Check() override {
    return ++checks > checks_max ? Status::DeadlineExceeded("too many looks") : Step(0);
  }
  Status Charge(int64_t more) override {
    if (more > 0 && bytes + more > bytes_max) return Status::LimitExceeded("too many bytes");
    bytes += more;
    if (bytes > bytes_most) bytes_most = bytes.load();
    return {};
  }
};

}  // namespace hg
