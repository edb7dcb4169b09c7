#pragma once
// Limits the average rate of events. Each admitted event adds to a debt, which decreases over time.
// While the debt is less than the limit of one period, a whole batch of events is admitted, even if
// the batch is larger than the limit. Further batches are rejected until the debt is below the
// limit again. The algorithm is the generic cell rate algorithm (ATM Forum, traffic management)
// with cells of unlimited size.

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace hg {

/// Admits or rejects events. Thread-safe. Concurrent callers of Open and Take may together admit
/// more events than the limit. TakeOne never admits more than the limit.
class RateLimit {
 public:
  /// `per_period` is the number of events that may be admitted in each period. It must be above 0.
  explicit RateLimit(uint64_t per_period, int64_t period_ns = 1'000'000'000)
      : per_period_(per_period), period_ns_(period_ns) {}

  [[nodiscard]] uint64_t per_period() const { return per_period_; }

  /// Returns whether a batch of events may be admitted now: true if the debt is less than the limit
  /// of one period.
  [[nodiscard]] bool Open(int64_t now_ns) const {
    return paid_until_ns_.load(std::memory_order_relaxed) <= now_ns + period_ns_;
  }
  /// Admits one event if the limit of the period allows it. Returns whether the event was admitted.
  bool TakeOne(int64_t now_ns) {
    const int64_t cost_ns = CostOf(1);
    int64_t paid = paid_until_ns_.load(std::memory_order_relaxed);
    for (;;) {
      const int64_t until = std::max(paid, now_ns) + cost_ns;
      if (until > now_ns + period_ns_) return false;
      if (paid_until_ns_.compare_exchange_weak(paid, until, std::memory_order_relaxed)) return true;
    }
  }
  /// Reverses TakeOne for an event that was admitted but did not happen.
  void GiveBackOne() { paid_until_ns_.fetch_sub(CostOf(1), std::memory_order_relaxed); }
  /// Returns whether events that were admitted earlier still reduce the number of events that may
  /// be admitted now.
  [[nodiscard]] bool Owes(int64_t now_ns) const {
    return paid_until_ns_.load(std::memory_order_relaxed) > now_ns;
  }
  /// Records `count` admitted events.
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
