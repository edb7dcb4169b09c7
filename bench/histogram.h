#pragma once
// A histogram of durations, or of other numbers. It counts any number of values in constant memory.
// The buckets have about equal relative width, so the error of quantiles is at most 0.4 %.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hg::bench {

/// A histogram of durations in nanoseconds, or of other numbers. Only one thread at a time may use
/// it.
class Histogram {
 public:
  Histogram() : counts_(kBuckets, 0) {}

  void Add(uint64_t nanoseconds) {
    ++counts_[BucketOf(nanoseconds)];
    ++count_;
    if (nanoseconds > max_) max_ = nanoseconds;
  }

  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] uint64_t max() const { return max_; }

  /// Returns the quantile `q` of the values; `q` is between 0 and 1. The result is the middle of
  /// the lowest bucket that, together with all lower buckets, contains at least the share `q` of
  /// all values. Returns 0 if there are no values.
  [[nodiscard]] uint64_t Quantile(double q) const {
    const auto wanted = static_cast<uint64_t>(q * static_cast<double>(count_ - 1)) + 1;
    uint64_t seen = 0;
    for (size_t b = 0; b < kBuckets && count_ > 0; ++b) {
      seen += counts_[b];
      if (seen < wanted) continue;
      const uint64_t middle = LeastOf(b) + (LeastOf(b + 1) - LeastOf(b)) / 2;
      return middle < max_ ? middle : max_;
    }
    return 0;
  }

  /// Calls visit(least, count) for each bucket that is not empty, in ascending order. `least` is
  /// the smallest value of the bucket.
  template <typename Visit>
  void Each(Visit visit) const {
    for (size_t b = 0; b < kBuckets; ++b) {
      if (counts_[b] > 0) visit(LeastOf(b), counts_[b]);
    }
  }

 private:
  // The values from 2^n to 2^(n+1) − 1 have 2^kBits = 128 buckets. Below 256, each value has a
  // bucket of its own.
  static constexpr unsigned kBits = 7;
  static constexpr size_t kBuckets = (65 - kBits) << kBits;

  static size_t BucketOf(uint64_t value) {
    const unsigned width = std::bit_width(value);
    const unsigned shift = width > kBits + 1 ? width - (kBits + 1) : 0;
    return (size_t{shift} << kBits) + (value >> shift);
  }
  static uint64_t LeastOf(size_t bucket) {
    const size_t octave = bucket >> kBits;
    const size_t shift = octave > 0 ? octave - 1 : 0;
    return uint64_t{bucket - (shift << kBits)} << shift;
  }

  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  uint64_t max_ = 0;
};

}  // namespace hg::bench
