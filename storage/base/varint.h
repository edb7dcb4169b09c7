#pragma once
// Numbers in LEB128 encoding: seven bits per byte, low bits first. The top bit is set in all bytes
// but the last. Zig-zag encoding maps small negative numbers to small unsigned numbers.

#include <bit>
#include <cstdint>

#include "storage/base/bytes.h"

namespace hg {

inline constexpr int kVarint32Max = 5;   // maximum length of a uint32_t in bytes
inline constexpr int kVarint64Max = 10;  // maximum length of a uint64_t in bytes

/// Returns the number of bytes that AppendVarint writes for v.
constexpr int VarintLength(uint64_t v) { return (std::bit_width(v | 1) + 6) / 7; }

/// Writes v at p, where VarintLength(v) bytes must be available. Returns a pointer to the first
/// byte after v.
inline char* PutVarint(char* p, uint64_t v) {
  for (; v >= 0x80; v >>= 7) *p++ = static_cast<char>(v | 0x80);
  *p++ = static_cast<char>(v);
  return p;
}

inline void AppendVarint(Bytes* out, uint64_t v) {
  char buffer[kVarint64Max];
  out->append(buffer, static_cast<size_t>(PutVarint(buffer, v) - buffer));
}

/// Removes one LEB128 number from the front of `in`. If the number is incomplete or too large,
/// returns false and leaves `in` and `v` unchanged.
inline bool GetVarint64(ByteView* in, uint64_t* v) {
  // This is a fast path, because most numbers have one or two bytes.
  if (in->size() >= 2) {
    const uint8_t first = ByteAt(*in, 0), second = ByteAt(*in, 1);
    if (first < 0x80 || second < 0x80) {
      *v = first < 0x80 ? first : (first & 0x7FU) | uint64_t{second} << 7;
      in->remove_prefix(first < 0x80 ? 1 : 2);
      return true;
    }
  }
  uint64_t result = 0;
  for (size_t i = 0; i < in->size() && i < kVarint64Max; ++i) {
    const uint8_t byte = ByteAt(*in, i);
    if (i == kVarint64Max - 1 && byte > 1) return false;
    result |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      in->remove_prefix(i + 1);
      *v = result;
      return true;
    }
  }
  return false;
}

inline bool GetVarint32(ByteView* in, uint32_t* v) {
  ByteView rest = *in;
  uint64_t wide;
  if (!GetVarint64(&rest, &wide) || wide > UINT32_MAX) return false;
  *in = rest;
  *v = static_cast<uint32_t>(wide);
  return true;
}

constexpr uint64_t ZigZag(int64_t v) {
  return static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63);
}
constexpr int64_t UnZigZag(uint64_t v) { return static_cast<int64_t>(v >> 1 ^ (~(v & 1) + 1)); }

}  // namespace hg
