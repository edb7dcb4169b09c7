#include "storage/model/java_hash.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "storage/model/utf8.h"

namespace hg {
namespace {

// Returns the sort key of a code point in UTF-16 order. Surrogates of supplementary characters sort
// before U+E000…U+FFFF.
uint32_t Utf16Rank(char32_t c) {
  if (c >= 0x10000) return 0xD800 + (c - 0x10000);
  return c >= 0xE000 ? c + 0x110000 : c;
}

}  // namespace

uint32_t JavaHashUtf8(std::string_view text) {
  uint32_t hash = 0;
  bool valid = true;
  while (!text.empty()) {
    const char32_t c = TakeCodePoint(&text, &valid);
    if (c < 0x10000) {
      hash = 31 * hash + c;
    } else {
      hash = 31 * hash + (0xD800 + ((c - 0x10000) >> 10));
      hash = 31 * hash + (0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  }
  return hash;
}

size_t Hash16Capacity(size_t n) {
  size_t capacity = 16;
  while (n > capacity / 4 * 3) capacity *= 2;
  return capacity;
}

size_t HashNCapacity(size_t n) {
  const size_t capacity = std::bit_ceil(std::max<size_t>(n, 1));
  return 4 * n > 3 * capacity ? 2 * capacity : capacity;
}

size_t HashQCapacity(size_t n) { return n <= 1 ? 2 : 2 * std::bit_ceil(n + n / 2 + 1); }

std::vector<size_t> JavaMapOrder(std::span<const uint32_t> hashes, size_t capacity) {
  const auto slot = [&](size_t i) { return (hashes[i] ^ hashes[i] >> 16) & (capacity - 1); };
  std::vector<size_t> order(hashes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return slot(a) < slot(b); });
  return order;
}

std::vector<size_t> ResultTagOrder(std::span<const std::pair<std::string, std::string>> tags) {
  std::vector<uint32_t> hashes;
  for (const auto& [key, value] : tags) hashes.push_back(JavaHashUtf8(key));
  return JavaMapOrder(hashes, HashQCapacity(tags.size()));
}

bool JavaLess(std::string_view a, std::string_view b) {
  // The common prefix is skipped without decoding, back to the start of the character that differs.
  const auto differs = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  auto same = static_cast<size_t>(differs - a.begin());
  const auto continues = [&](size_t at) { return (static_cast<uint8_t>(a[at]) & 0xC0) == 0x80; };
  constexpr size_t kBackMax = 4;  // at least the length of any character
  for (size_t back = 0; same > 0 && back < kBackMax; ++back) {
    --same;
    if (!continues(same)) break;
  }
  a.remove_prefix(same);
  b.remove_prefix(same);
  bool valid = true;
  while (!a.empty() && !b.empty()) {
    const uint32_t left = Utf16Rank(TakeCodePoint(&a, &valid));
    const uint32_t right = Utf16Rank(TakeCodePoint(&b, &valid));
    if (left != right) return left < right;
  }
  return a.empty() && !b.empty();
}

}  // namespace hg
