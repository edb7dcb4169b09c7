#include "storage/base/clock.h"

#include <chrono>

namespace hg {
namespace {

class MachineClock final : public Clock {
 public:
  [[nodiscard]] int64_t NowMs() const override {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  }
  [[nodiscard]] int64_t MonotonicNs() const override {
    using namespace std::chrono;
    return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
  }
};

}  // namespace

const Clock& SystemClock() {
  static const MachineClock clock;
  return clock;
}

}  // namespace hg
