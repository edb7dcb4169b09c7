#pragma once
// Packed numbers of a fixed width. Value i occupies the bits [i × width, (i + 1) × width) of a
// little-endian bit string.

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "storage/base/bytes.h"

namespace hg::points {

/// Returns the number of bits needed for v. Returns 0 if v is 0.
constexpr int BitWidth(uint64_t v) { return std::bit_width(v); }

constexpr size_t PackedBytes(size_t count, int width) {
  return (count * static_cast<size_t>(width) + 7) / 8;
}

/// Appends the low `width` (0…64) bits of each value.
inline void PackBits(std::span<const uint64_t> values, int width, Bytes* out) {
  static_assert(std::endian::native == std::endian::little);
  if (width == 0) return;
  const size_t start = out->size();
  out->resize(start + PackedBytes(values.size(), width));
  char* p = out->data() + start;
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  uint64_t pending = 0;
  int bits = 0;  // number of used bits in `pending`, below 64
  for (uint64_t value : values) {
    value &= mask;
    pending |= value << bits;
    bits += width;
    if (bits < 64) continue;
    std::memcpy(p, &pending, 8);
    p += 8;
    bits -= 64;
    // The bits of `value` that did not fit, or 0 if the value ended exactly at the boundary.
    pending = bits == 0 ? 0 : value >> (width - bits);
  }
  if (bits > 0) std::memcpy(p, &pending, static_cast<size_t>(bits + 7) / 8);
}

/// Reads `count` values of `width` bits and calls put(i, value) for each value. `packed` must have
/// at least PackedBytes(count, width) bytes.
template <typename Put>
void UnpackBits(ByteView packed, size_t count, int width, Put&& put) {
  if (width == 0) {
    for (size_t i = 0; i < count; ++i) put(i, uint64_t{0});
    return;
  }
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const auto step = static_cast<size_t>(width);
  const char* const p = packed.data();
  size_t i = 0;
  size_t bit = 0;
  if (width <= 57) {
    // For values before the index `inside`, the eight bytes from the first byte of the value are
    // inside `packed` and contain the whole value. Later values are read from a padded copy of the
    // last bytes.
    const size_t inside = packed.size() < 8 ? 0 : ((packed.size() - 8) * 8 + 7) / step + 1;
    auto run = [&](const char* from, size_t from_bit, size_t end) {
      for (; i < end; ++i, bit += step) {
        uint64_t word;
        std::memcpy(&word, from + (bit - from_bit) / 8, 8);
        put(i, word >> (bit % 8) & mask);
      }
    };
    run(p, 0, inside < count ? inside : count);
    if (i == count) return;
    char tail[24] = {};
    const size_t at = bit / 8;
    std::memcpy(tail, p + at, packed.size() - at);
    run(tail, at * 8, count);
    return;
  }
  for (; i < count; ++i, bit += step) {
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
