#pragma once
// So many things a second, on the average: what comes is taken whole while less than a second's
// worth is owed, so that a batch larger than that passes, too, and is paid for by those after it.
// (The generic cell rate algorithm of ATM Forum's traffic management, with an unbounded cell.)

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace hg {

/// Thread-safe. By Open and Take two callers at once may both be let through where one would have
/// been; never by TakeOne.
class RateLimit {
 public:
  /// `per_period`: above 0.
  explicit RateLimit(uint64_t per_period, int64_t period_ns = 1'000'000'000)
      : per_period_(per_period), period_ns_(period_ns) {}

  [[nodiscard]] uint64_t per_period() const { return per_period_; }

  /// Whether something may come now.
  [[nodiscard]] bool Open(int64_t now_ns) const {
    return paid_until_ns_.load(std::memory_order_relaxed) <= now_ns + period_ns_;
  }
  /// One more, if that is within what a period may have: for things that come one by one.
  bool TakeOne(int64_t now_ns) {
    const int64_t cost_ns = CostOf(1);
    int64_t paid = paid_until_ns_.load(std::memory_order_relaxed);
    for (;;) {
      const int64_t until = std::max(paid, now_ns) + cost_ns;
      if (until > now_ns + period_ns_) return false;
      if (paid_until_ns_.compare_exchange_weak(paid, until, std::memory_order_relaxed)) return true;
    }
  }
  /// One that TakeOne took did not come.
  void GiveBackOne() { paid_until_ns_.fetch_sub(CostOf(1), std::memory_order_relaxed); }
  /// Whether something that came is not paid for yet.
  [[nodiscard]] bool Owes(int64_t now_ns) const {
    return paid_until_ns_.load(std::memory_order_relaxed) > now_ns;
  }
  /// It came: `count` of them.
  void Take(uint64_t count, int64_t now_ns) {
    const int64_t cost_ns = CostOf(count);
    int64_t until = paid_until_ns_.load(std::memory_order_relaxed);
    while (!paid_until_ns_.compare_exchange_weak(until, std::max(until, now_ns) + cost_ns,
                                                 std::memory_order_relaxed)) {
    }
  }

 private:
  [[nodiscard]] int64_t CostOf(uint64_t count) const {
    return static_cast<int64_t>(static_cast<double>(count) * static_cast<double>(period_ns_) /
                                static_cast<double>(per_period_));
  }

  const uint64_t per_period_;
  const int64_t period_ns_;
  std::atomic<int64_t> paid_until_ns_{0};
};

}  // namespace hg
