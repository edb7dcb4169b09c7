#include "storage/base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace hg::crc32c {
namespace {

constexpr uint32_t kPolynomialReflected = 0x82F63B78;

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// tables[k][b] is the effect of a byte b that k zero bytes follow. With these tables, eight bytes
// are processed at once.
constexpr Tables MakeTables() {
  Tables t{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kPolynomialReflected : 0);
    t[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xFF];
  }
  return t;
}
constexpr Tables kTables = MakeTables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ExtendByInstruction(uint32_t start, ByteView bytes) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  uint64_t crc = ~start;
  for (; end - p >= 8; p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto low = static_cast<uint32_t>(crc);
  for (; p != end; ++p) low = _mm_crc32_u8(low, static_cast<uint8_t>(*p));
  return ~low;
}
#endif

using ExtendFunction = uint32_t (*)(uint32_t, ByteView);

ExtendFunction Choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return &ExtendByInstruction;
#endif
  return &internal::ExtendByTable;
}

}  // namespace

namespace internal {

uint32_t ExtendByTable(uint32_t start, ByteView bytes) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  uint32_t crc = ~start;
  for (; end - p >= 8; p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= crc;
    crc = 0;
    for (int i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> (8 * i) & 0xFF];
  }
  for (; p != end; ++p) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(*p)) & 0xFF];
  return ~crc;
}

}  // namespace internal

uint32_t Extend(uint32_t crc, ByteView bytes) {
  static const ExtendFunction extend = Choose();
  return extend(crc, bytes);
}

}  // namespace hg::crc32c
