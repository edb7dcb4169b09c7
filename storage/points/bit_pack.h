#pragma once
// Numbers of a fixed width side by side: value i takes bits [i × width, (i + 1) × width) of a
// little-endian bit string.

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "storage/base/bytes.h"

namespace hg::points {

/// Bits that hold v; 0 for 0.
constexpr int BitWidth(uint64_t v) { return std::bit_width(v); }

constexpr size_t PackedBytes(size_t count, int width) {
  return (count * static_cast<size_t>(width) + 7) / 8;
}

/// Appends the low `width` (0…64) bits of each value.
inline void PackBits(std::span<const uint64_t> values, int width, Bytes* out) {
  static_assert(std::endian::native == std::endian::little);
  unsigned __int128 pending = 0;
  int bits = 0;
  for (uint64_t value : values) {
    if (width < 64) value &= (uint64_t{1} << width) - 1;
    pending |= static_cast<unsigned __int128>(value) << bits;
    for (bits += width; bits >= 8; bits -= 8, pending >>= 8)
      out->push_back(static_cast<char>(pending));
  }
  if (bits > 0) out->push_back(static_cast<char>(pending));
}

/// Reads `count` values of `width` bits; `packed` has at least PackedBytes(count, width) bytes.
/// Calls put(i, value).
template <typename Put>
void UnpackBits(ByteView packed, size_t count, int width, Put&& put) {
  if (width == 0) {
    for (size_t i = 0; i < count; ++i) put(i, uint64_t{0});
    return;
  }
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const char* const p = packed.data();
  size_t i = 0;
  // Eight bytes hold a value of up to 57 bits wherever it begins.
  if (width <= 57 && packed.size() >= 8) {
    const size_t whole = ((packed.size() - 8) * 8) / static_cast<size_t>(width);
    const size_t fast = whole < count ? whole : count;
    for (size_t bit = 0; i < fast; ++i, bit += static_cast<size_t>(width)) {
      uint64_t word;
      std::memcpy(&word, p + bit / 8, 8);
      put(i, word >> (bit % 8) & mask);
    }
  }
  for (size_t bit = i * static_cast<size_t>(width); i < count;
       ++i, bit += static_cast<size_t>(width)) {
    unsigned char bytes[16] = {};
    const size_t at = bit / 8;
    const size_t left = packed.size() - at;
    std::memcpy(bytes, p + at, left < 9 ? left : 9);
    uint64_t low;
    std::memcpy(&low, bytes, 8);
    uint64_t value = low >> (bit % 8);
    if (bit % 8 != 0) value |= uint64_t{bytes[8]} << (64 - bit % 8);
    put(i, value & mask);
  }
}

}  // namespace hg::points
