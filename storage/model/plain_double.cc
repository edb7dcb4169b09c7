#include "storage/model/plain_double.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace hg {
namespace {

// The steps follow Giulietti, "The Schubfach way to render doubles". A number here is m × 2^-q with
// a 53-bit m and a magnitude between 2^-10 and 2^24. In this range all intermediate results, scaled
// by a power of ten, fit integers, so nothing is rounded. For all doubles, tables of rounded powers
// would be needed.
constexpr int kMantissaBits = 52;
constexpr int kQMin = 29, kQMax = 62;

using Wide = unsigned __int128;

struct Scale {
  uint64_t power = 1;  // 10^digits, the smallest power of ten ≥ 2^q
  int digits = 0;
};

constexpr std::array<Scale, kQMax - kQMin + 1> kScales = [] {
  std::array<Scale, kQMax - kQMin + 1> scales{};
  for (int q = kQMin; q <= kQMax; ++q) {
    Scale& scale = scales[static_cast<size_t>(q - kQMin)];
    while (scale.power < uint64_t{1} << q) {
      scale.power *= 10;
      ++scale.digits;
    }
  }
  return scales;
}();

constexpr std::array<uint64_t, 17> kPowers = [] {
  std::array<uint64_t, 17> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
  return powers;
}();

constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// Writes eight digits at once: first as four pairs, then as eight digits, all in one 64-bit number.
uint64_t EightDigits(uint32_t number) {
  uint64_t v = number / 10'000 | uint64_t{number % 10'000} << 32;
  const uint64_t hundreds = v * 10'486 >> 20 & 0x0000'007F'0000'007F;
  v = hundreds | (v - 100 * hundreds) << 16;
  const uint64_t tens = v * 103 >> 10 & 0x000F'000F'000F'000F;
  v = tens | (v - 10 * tens) << 8;
  return v | 0x3030'3030'3030'3030;
}

// Writes `count` digits, with leading zeros.
void PutDigits(uint64_t number, int count, char* to) {
  char* at = to + count;
  for (; count > 1; count -= 2) {
    at -= 2;
    std::memcpy(at, &kPairs[2 * (number % 100)], 2);
    number /= 100;
  }
  if (count == 1) *to = static_cast<char>('0' + number % 10);
}

// Writes `count` digits of a fraction, with leading zeros. It may overwrite a few bytes after them.
void PutFraction(uint64_t fraction, int count, char* to) {
  static_assert(std::endian::native == std::endian::little);
  constexpr int kAtOnce = 16;
  constexpr uint64_t kEight = 100'000'000;
  if (count > kAtOnce) return PutDigits(fraction, count, to);
  const uint64_t left = fraction * kPowers[static_cast<size_t>(kAtOnce - count)];
  const uint64_t halves[] = {EightDigits(static_cast<uint32_t>(left / kEight)),
                             EightDigits(static_cast<uint32_t>(left % kEight))};
  std::memcpy(to, halves, sizeof(halves));
}

char* PutWhole(uint32_t number, char* to) {
  int count = 1;
  for (uint32_t above = 10; above <= number; above *= 10) ++count;  // number is below 2^24
  PutDigits(number, count, to);
  return to + count;
}

// Removes trailing zeros of the `count` digits, but not the last digit.
void DropZeros(uint64_t* number, int* count) {
  const auto drop = [&](uint64_t power, int zeros) {
    if (*count <= zeros || *number % power != 0) return;
    *number /= power;
    *count -= zeros;
  };
  drop(100'000'000, 8);
  drop(100'000'000, 8);
  drop(10'000, 4);
  drop(100, 2);
  drop(10, 1);
}

}  // namespace

char* PutPlainDouble(double v, char* to) {
  const double magnitude = std::abs(v);
  if (!(magnitude >= 1e-3 && magnitude < 1e7)) return nullptr;
  if (std::signbit(v)) *to++ = '-';
  const auto bits = std::bit_cast<uint64_t>(magnitude);
  constexpr int kExponentBias = 1023;
  const int q = kMantissaBits + kExponentBias - static_cast<int>(bits >> kMantissaBits);
  const uint64_t one = uint64_t{1} << kMantissaBits;
  const uint64_t m = (bits & (one - 1)) | one;
  const uint64_t unit = uint64_t{1} << q;
  auto whole = static_cast<uint32_t>(m >> q);
  if ((m & (unit - 1)) == 0) {
    to = PutWhole(whole, to);
    std::memcpy(to, ".0", 2);
    return to + 2;
  }

  // `scaled` is the number × 10^digits, cut off; the remainder is rest ÷ unit. Numbers at most
  // `half` ÷ unit away are parsed to the same double, the limit itself included if m is even. This
  // is half the distance to the neighbours, between 1/2 and 5. A power of two has a nearer
  // neighbour below, but those in this range have few digits.
  const auto [power, digits] = kScales[static_cast<size_t>(q - kQMin)];
  const Wide product = static_cast<Wide>(m) * power;
  auto scaled = static_cast<uint64_t>(product >> q);
  const uint64_t rest = static_cast<uint64_t>(product) & (unit - 1);
  const uint64_t half = power / 2;
  const bool even = m % 2 == 0;
  const uint64_t last = scaled % 10;
  const Wide to_tens_below = (static_cast<Wide>(last) << q) + rest;
  const Wide to_tens_above = (static_cast<Wide>(10) << q) - to_tens_below;
  const auto reads_back = [&](Wide distance) {
    return distance < half || (even && distance == half);
  };
  const bool below = reads_back(to_tens_below), above = reads_back(to_tens_above);  // not both
  if (below || above) {
    scaled = scaled - last + (above ? 10 : 0);
  } else {
    const uint64_t middle = unit / 2;
    scaled += rest > middle || (rest == middle && scaled % 2 == 1) ? 1 : 0;
  }

  uint64_t fraction = scaled - whole * power;
  if (fraction >= power) {
    fraction -= power;
    ++whole;
  }
  int count = digits;
  if (below || above) DropZeros(&fraction, &count);
  to = PutWhole(whole, to);
  *to++ = '.';
  PutFraction(fraction, count, to);
  return to + count;
}

}  // namespace hg
