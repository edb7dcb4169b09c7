#pragma once
// Collects durations in two forms: percentiles and a histogram. Percentiles since the start of the
// process are reported as http.latency_* and hbase.latency_* (opentsdb-http-api.md §15.1).
// Percentiles below 64 ms are exact to 1 ms. Larger ones, up to 2^26 ms, are rounded up by less
// than 1/8 of their value. The histogram is for Prometheus: the number of durations up to each of
// several fixed bounds, and the sum of all durations. Prometheus can add these numbers over
// machines and subtract them over time.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hg {

/// The number of durations at or below each bound, the total number, and the sum of durations.
struct LatencyHistogram {
  /// The upper bounds of the histogram. They range from responses that read no disk to queries that
  /// reach their time limit.
  static constexpr auto kBounds = [] {
    using std::chrono::microseconds;
    return std::array<std::chrono::nanoseconds, 18>{
        microseconds(100),        microseconds(250),        microseconds(500),
        microseconds(1'000),      microseconds(2'500),      microseconds(5'000),
        microseconds(10'000),     microseconds(25'000),     microseconds(50'000),
        microseconds(100'000),    microseconds(250'000),    microseconds(500'000),
        microseconds(1'000'000),  microseconds(2'500'000),  microseconds(5'000'000),
        microseconds(10'000'000), microseconds(30'000'000), microseconds(60'000'000)};
  }();

  // within[i] is the number of durations ≤ kBounds[i], so the values are ascending.
  std::array<uint64_t, kBounds.size()> within{};
  uint64_t count = 0;  // number of all durations, including those above the highest bound
  std::chrono::nanoseconds sum{0};
};

/// Collects durations. Thread-safe. The counters are updated one by one, so a reader may see an
/// update in some counters and not yet in others.
class Latency {
 public:
  void Record(std::chrono::nanoseconds took) {
    took = std::max(took, std::chrono::nanoseconds(0));
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
    counts_[SlotOf(static_cast<uint64_t>(millis))].fetch_add(1, std::memory_order_relaxed);
    buckets_[BucketOf(took)].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(static_cast<uint64_t>(took.count()), std::memory_order_relaxed);
  }

  /// Returns the number of recorded durations.
  [[nodiscard]] uint64_t Count() const {
    uint64_t total = 0;
    for (const auto& count : counts_) total += count.load(std::memory_order_relaxed);
    return total;
  }

  [[nodiscard]] LatencyHistogram Histogram() const {
    LatencyHistogram read;
    for (size_t i = 0; i < buckets_.size(); ++i) {
      read.count += buckets_[i].load(std::memory_order_relaxed);
      if (i < read.within.size()) read.within[i] = read.count;
    }
    read.sum = std::chrono::nanoseconds(sum_ns_.load(std::memory_order_relaxed));
    return read;
  }

  /// Returns the upper bound, in ms, of the slot that contains this percentile of the recorded
  /// durations. Returns 0 if no duration was recorded.
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
  static constexpr size_t kExact = 64;    // number of slots that are one millisecond wide
  static constexpr size_t kPerPower = 8;  // number of slots from 2^k ms to 2^(k+1) ms
  // The number of powers of two that have slots. The last slot ends at 2^26 ms, which is most of a
  // day.
  static constexpr size_t kPowers = 20;
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

  /// Returns the index of the first bound ≥ `took`, or the number of bounds if all bounds are
  /// smaller than `took`.
  static size_t BucketOf(std::chrono::nanoseconds took) {
    const auto& bounds = LatencyHistogram::kBounds;
    return static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), took) -
                               bounds.begin());
  }

  std::array<std::atomic<uint64_t>, kSlots> counts_{};
  std::array<std::atomic<uint64_t>, LatencyHistogram::kBounds.size() + 1> buckets_{};
  std::atomic<uint64_t> sum_ns_{0};
};

}  // namespace hg
