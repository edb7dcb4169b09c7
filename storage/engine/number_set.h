#pragma once
// A set of series numbers, one bit per number.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hg::engine {

/// A set of series numbers. Callers must lock the set: exclusively to change it, and at least
/// shared to read it.
class NumberSet {
 public:
  NumberSet() = default;
  /// Creates an empty set for numbers below `end`.
  explicit NumberSet(uint32_t end) : words_((size_t{end} + 63) / 64) {}

  /// Grows the set, so that all numbers below `end` can be added.
  void Grow(uint32_t end) {
    if ((size_t{end} + 63) / 64 > words_.size()) words_.resize((size_t{end} + 63) / 64);
  }
  [[nodiscard]] bool Has(uint32_t number) const {
    return number / 64 < words_.size() && (words_[number / 64] >> (number % 64) & 1) != 0;
  }
  /// Adds `number` if the set is large enough for it (see Grow). Ignores numbers that are too
  /// large.
  void Add(uint32_t number) {
    if (number / 64 < words_.size()) words_[number / 64] |= uint64_t{1} << (number % 64);
  }
  void Remove(uint32_t number) {
    if (number / 64 < words_.size()) words_[number / 64] &= ~(uint64_t{1} << (number % 64));
  }
  /// Adds all numbers of `other` to this set.
  void AddAll(const NumberSet& other) {
    words_.resize(std::max(words_.size(), other.words_.size()));
    for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }
  [[nodiscard]] bool Any() const {
    return std::any_of(words_.begin(), words_.end(), [](uint64_t word) { return word != 0; });
  }
  /// All numbers of the set are below this number.
  [[nodiscard]] uint64_t end() const { return uint64_t{words_.size()} * 64; }
  [[nodiscard]] uint32_t Count() const {
    uint32_t count = 0;
    for (const uint64_t word : words_) count += static_cast<uint32_t>(std::popcount(word));
    return count;
  }
  /// Returns how many numbers from `begin` to `end` - 1 are in the set. `begin` is a multiple
  /// of 64.
  [[nodiscard]] uint32_t CountIn(uint32_t begin, uint32_t end) const {
    uint32_t count = 0;
    for (uint64_t at = begin; at < end && at / 64 < words_.size(); at += 64) {
      uint64_t word = words_[at / 64];
      if (end - at < 64) word &= (uint64_t{1} << (end - at)) - 1;
      count += static_cast<uint32_t>(std::popcount(word));
    }
    return count;
  }
  /// Removes all numbers of `other` from this set, and calls visit(number) for each removed number.
  template <typename Visit>
  void RemoveAll(const NumberSet& other, Visit&& visit) {
    for (size_t i = 0; i < words_.size() && i < other.words_.size(); ++i) {
      uint64_t both = words_[i] & other.words_[i];
      words_[i] &= ~both;
      for (; both != 0; both &= both - 1) {
        visit(static_cast<uint32_t>(i * 64) + static_cast<uint32_t>(std::countr_zero(both)));
      }
    }
  }
  [[nodiscard]] size_t bytes() const { return words_.capacity() * sizeof(uint64_t); }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace hg::engine
