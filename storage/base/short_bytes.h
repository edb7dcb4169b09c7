#pragma once
// Inline search and comparison for short texts. For texts of ten to twenty bytes, calling
// std::memchr or std::memcmp takes longer than the search or comparison itself.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace hg {

/// Returns the first occurrence of `byte` in [begin, end), or `end` if there is none.
inline const char* FindByte(const char* begin, const char* end, char byte) {
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(byte);
  for (; end - begin >= 16; begin += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(begin));
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, wanted)));
    if (found != 0) return begin + std::countr_zero(found);
  }
#endif
  while (begin != end && *begin != byte) ++begin;
  return begin;
}

/// Returns the first blank or control character (0x00 to 0x20), or `end` if there is none.
inline const char* FindBlank(const char* begin, const char* end) {
#ifdef __SSE2__
  const __m128i last = _mm_set1_epi8(' ');
  for (; end - begin >= 16; begin += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(begin));
    const __m128i blank = _mm_cmpeq_epi8(_mm_min_epu8(block, last), block);
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(blank));
    if (found != 0) return begin + std::countr_zero(found);
  }
#endif
  while (begin != end && static_cast<unsigned char>(*begin) > ' ') ++begin;
  return begin;
}

/// Returns whether the first `size` bytes of `a` and `b` are equal.
inline bool SameBytes(const char* a, const char* b, size_t size) {
#ifdef __SSE2__
  const auto same16 = [](const char* x, const char* y) {
    const __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)),
                                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(y)));
    return _mm_movemask_epi8(equal) == 0xFFFF;
  };
  if (size >= 16) {
    for (size_t at = 0; at + 16 < size; at += 16)
      if (!same16(a + at, b + at)) return false;
    return same16(a + size - 16, b + size - 16);  // these 16 bytes may overlap the previous ones
  }
#endif
  if (size >= 8 && size <= 16) {
    uint64_t first[2], last[2];
    std::memcpy(&first[0], a, 8);
    std::memcpy(&first[1], b, 8);
    std::memcpy(&last[0], a + size - 8, 8);
    std::memcpy(&last[1], b + size - 8, 8);
    return ((first[0] ^ first[1]) | (last[0] ^ last[1])) == 0;
  }
  return size == 0 || std::memcmp(a, b, size) == 0;
}

}  // namespace hg
