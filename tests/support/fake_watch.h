#pragma once
// A watch with limits of its own, that says what it was told.

#include <atomic>
#include <cstdint>

#include "storage/base/work_watch.h"

namespace hg {

/// Thread-safe; the limits are set before it is used.
class FakeWatch : public WorkWatch {
 public:
  uint64_t steps_max = UINT64_MAX;
  int64_t bytes_max = INT64_MAX;
  std::atomic<uint64_t> steps{0};
  std::atomic<int64_t> bytes{0}, bytes_most{0};

  Status Step(uint64_t more) override {
    return (steps += more) > steps_max ? Status::DeadlineExceeded("too many steps") : Status();
  }
  Status Charge(int64_t more) override {
    if (more > 0 && bytes + more > bytes_max) return Status::LimitExceeded("too many bytes");
    bytes += more;
    if (bytes > bytes_most) bytes_most = bytes.load();
    return {};
  }
};

}  // namespace hg
