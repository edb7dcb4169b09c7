#pragma once
// Splits numbers in two pieces: one byte of high bits, which compresses well, and the low bits,
// which are noise and stay uncompressed (performance.md §4.2; FORMAT.md "Row", way 4). The numbers
// are values, or steps between values. Their middle is subtracted before they are split. The high
// bits are stored in the byte with zig-zag encoding. The value 255 of the byte means that the high
// bits do not fit into the byte. Only number_stream uses this file.

#include <span>

#include "storage/points/byte_reader.h"

namespace hg::points {

inline constexpr int kSplitLowBitsMax = 56;
// A flag of the first byte: the numbers are steps between values. The low six bits of this byte are
// the number of low bits.
inline constexpr uint8_t kSplitSteps = 0x40;
inline constexpr uint8_t kSplitEscape = 255;

/// Appends the split numbers. If `steps` is true, AppendSplit stores the steps between values,
/// because the caller knows that the steps are smaller. If `steps` is false, it stores the values
/// or the steps, whichever needs fewer bytes.
void AppendSplit(std::span<const uint64_t> numbers, bool steps, Bytes* out);

/// Decodes `n` numbers that AppendSplit encoded. Calls put(i, number) for each number, where i is
/// its index. Returns false if the bytes are not a valid encoding.
template <typename Put>
bool UnpackSplit(ByteReader* in, size_t n, Put&& put) {
  const uint8_t shape = in->U8();
  const int low_bits = shape & 0x3F;
  const bool steps = (shape & kSplitSteps) != 0;
  const auto middle = static_cast<uint64_t>(in->Zz());
  uint64_t number = steps ? static_cast<uint64_t>(in->Zz()) : 0;
  const size_t first = steps ? 1 : 0;
  if (!in->ok() || shape > (kSplitSteps | 0x3F) || low_bits > kSplitLowBitsMax || n < first) {
    return false;
  }
  const ByteView high = in->Take(n - first);
  const ByteView low = in->Take(PackedBytes(n - first, low_bits));
  if (!in->ok()) return false;
  auto join = [&](size_t i, uint64_t low_part) {
    uint64_t high_part = ByteAt(high, i);
    if (high_part == kSplitEscape) [[unlikely]]
      high_part += in->Varint();
    return (static_cast<uint64_t>(UnZigZag(high_part)) << low_bits | low_part) + middle;
  };
  if (steps) {
    put(0, number);
    UnpackBits(low, n - 1, low_bits,
               [&](size_t i, uint64_t low_part) { put(i + 1, number += join(i, low_part)); });
  } else {
    UnpackBits(low, n, low_bits, [&](size_t i, uint64_t low_part) { put(i, join(i, low_part)); });
  }
  return in->ok();
}

}  // namespace hg::points
