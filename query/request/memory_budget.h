#pragma once
// The memory budget of queries: a limit for the memory of all running queries together
// (tsd.query.memory.limit).

#include <atomic>
#include <cstdint>

namespace hg::query {

/// A memory budget that all queries share. It is thread-safe.
class MemoryBudget {
 public:
  /// `limit_bytes` is the size of the budget; 0 = no limit.
  explicit MemoryBudget(int64_t limit_bytes) : limit_(limit_bytes) {}

  /// Takes `bytes` from the budget and returns true. If less than `reserve` bytes would then be
  /// left, takes nothing and returns false.
  bool Take(int64_t bytes, int64_t reserve = 0) {
    const int64_t taken = taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (limit_ <= 0 || taken <= limit_ - reserve) return true;
    Give(bytes);
    return false;
  }
  void Give(int64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

  [[nodiscard]] int64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  [[nodiscard]] int64_t limit() const { return limit_; }
  /// The part of the budget in bytes that large queries leave to small ones.
  [[nodiscard]] int64_t reserve() const { return limit_ / 8; }
  /// Returns whether a large query that needs more memory is refused.
  [[nodiscard]] bool refuses_large() const { return limit_ > 0 && taken() >= limit_ - reserve(); }
  /// Returns how many bytes must be freed before a large query may start: at most half of the
  /// budget may be in use. A result of 0 or less means that enough memory is free. `own` bytes of
  /// the memory in use are not counted.
  [[nodiscard]] int64_t missing(int64_t own) const {
    return limit_ <= 0 ? 0 : taken() - own - limit_ / 2;
  }

 private:
  const int64_t limit_;
  std::atomic<int64_t> taken_{0};
};

}  // namespace hg::query
