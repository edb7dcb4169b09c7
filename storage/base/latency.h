#pragma once
// How long things took: enough of a histogram to tell percentiles (spec http-api.md §15.1,
// http.latency_* and hbase.latency_*). Exact to a millisecond up to 63, to an eighth beyond.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace hg {

/// Thread-safe; relaxed, as totals are.
class Latency {
 public:
  void Record(int64_t millis) {
    counts_[SlotOf(static_cast<uint64_t>(std::max<int64_t>(millis, 0)))].fetch_add(
        1, std::memory_order_relaxed);
  }

  /// How many were recorded.
  [[nodiscard]] uint64_t Count() const {
    uint64_t total = 0;
    for (const auto& count : counts_) total += count.load(std::memory_order_relaxed);
    return total;
  }

  /// The time (ms) that `percent` of all stayed within; 0 before the first.
  [[nodiscard]] int64_t Percentile(int percent) const {
    const uint64_t total = Count();
    uint64_t left = (total * static_cast<uint64_t>(percent) + 99) / 100;
    if (total == 0) return 0;
    for (size_t slot = 0; slot < kSlots; ++slot) {
      const uint64_t here = counts_[slot].load(std::memory_order_relaxed);
      if (left <= here && here > 0) return UpperEnd(slot);
      left -= std::min(left, here);
    }
    return UpperEnd(kSlots - 1);
  }

 private:
  static constexpr size_t kExact = 64;    // slots of one millisecond each
  static constexpr size_t kPerPower = 8;  // slots between two powers of two
  static constexpr size_t kPowers = 20;   // up to 2^26 ms, most of a day
  static constexpr size_t kSlots = kExact + kPerPower * kPowers;

  static size_t SlotOf(uint64_t millis) {
    if (millis < kExact) return millis;
    const auto power = static_cast<size_t>(std::bit_width(millis)) - 1;  // at least 6
    const size_t eighth = (millis >> (power - 3)) & (kPerPower - 1);
    return std::min(kExact + (power - 6) * kPerPower + eighth, kSlots - 1);
  }
  static int64_t UpperEnd(size_t slot) {
    if (slot < kExact) return static_cast<int64_t>(slot);
    const size_t power = 6 + (slot - kExact) / kPerPower;
    const size_t eighth = (slot - kExact) % kPerPower;
    return static_cast<int64_t>(((kPerPower + eighth + 1) << (power - 3)) - 1);
  }

  std::array<std::atomic<uint64_t>, kSlots> counts_{};
};

}  // namespace hg
