#pragma once
// Chunks of samples in the encoding that Prometheus took from Facebook's Gorilla. Times are stored
// as differences of differences, and each value is XORed with the previous value.

#include <cstddef>
#include <cstdint>
#include <string>

namespace hg::http {

/// The maximum number of samples in a chunk, as in Prometheus.
inline constexpr size_t kChunkSamplesMax = 120;

/// A chunk that is being created. The object is not thread-safe.
class XorChunk {
 public:
  XorChunk() : bytes_(2, '\0') {}

  /// Adds a sample. The times of samples must ascend. The chunk must have fewer than
  /// kChunkSamplesMax samples before the call.
  void Add(int64_t time_ms, double value);

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] int64_t first_ms() const { return first_ms_; }
  [[nodiscard]] int64_t last_ms() const { return last_ms_; }
  /// Returns the encoded chunk: the number of samples in two bytes, followed by the samples.
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  /// Appends the lowest `count` bits of `bits`; the highest of these bits comes first. `count` must
  /// be at most 64.
  void AppendBits(uint64_t bits, int count);
  void AppendVarintBits(uint64_t number);
  void AppendTimeChange(int64_t change);
  void AppendValue(uint64_t bits);

  static constexpr int kNoWindow = 64;

  std::string bytes_;
  int free_bits_ = 0;  // number of unused bits in the last byte
  size_t size_ = 0;
  int64_t first_ms_ = 0, last_ms_ = 0, delta_ms_ = 0;
  uint64_t value_ = 0;  // the last value, as the bits of a double
  /// The window of the current XOR values: the numbers of zero bits before and after the bits that
  /// are written. kNoWindow: no window was written yet.
  int leading_ = kNoWindow, trailing_ = 0;
};

}  // namespace hg::http
