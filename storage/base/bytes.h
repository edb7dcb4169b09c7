#pragma once
// Byte strings and fixed-width big-endian integers. All stored keys and cells are big-endian. Bytes
// owns its content and ByteView does not. Bytes and ByteView compare as unsigned bytes, like
// memcmp.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hg {

using Bytes = std::string;
using ByteView = std::string_view;

/// Returns the byte at index i as an unsigned number.
inline uint8_t ByteAt(ByteView b, size_t i) { return static_cast<uint8_t>(b[i]); }

namespace internal {
template <typename T>
T FromBig(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(v);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(v);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(v);
}
}  // namespace internal

/// Reads a big-endian number from `p`. The caller must check that there are enough bytes.
inline uint16_t ReadBig16(const char* p) { return internal::FromBig<uint16_t>(p); }
inline uint32_t ReadBig32(const char* p) { return internal::FromBig<uint32_t>(p); }
inline uint64_t ReadBig64(const char* p) { return internal::FromBig<uint64_t>(p); }

/// Reads `width` (0…8) bytes as an unsigned big-endian number.
inline uint64_t ReadBig(const char* p, int width) {
  uint64_t v = 0;
  for (int i = 0; i < width; ++i) v = v << 8 | static_cast<uint8_t>(p[i]);
  return v;
}

/// Appends the low `width` (0…8) bytes of v, most significant byte first.
inline void AppendBig(Bytes* out, uint64_t v, int width) {
  for (int shift = (width - 1) * 8; shift >= 0; shift -= 8)
    out->push_back(static_cast<char>(v >> shift));
}

/// Returns the bytes as lower-case hexadecimal digits.
Bytes ToHex(ByteView bytes);
/// Returns the bytes as upper-case hexadecimal digits, as OpenTSDB prints UIDs and TSUIDs.
Bytes ToHexUpper(ByteView bytes);
/// Decodes an even number of hexadecimal digits in upper or lower case. For other input, returns
/// false and leaves `out` unchanged.
bool FromHex(ByteView hex, Bytes* out);

}  // namespace hg
