#include "storage/lsm/bloom.h"

#include <cstring>

namespace hg::lsm {
namespace {

constexpr uint64_t kBitsPerKey = 10;
constexpr int kProbes = 7;

uint64_t Mix(uint64_t h) {
  h = (h ^ h >> 33) * 0xFF51AFD7ED558CCDU;
  h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53U;
  return h ^ h >> 33;
}

}  // namespace

uint64_t BloomHash(ByteView key) {
  uint64_t hash = 0x9E3779B97F4A7C15U ^ key.size();
  for (; key.size() >= 8; key.remove_prefix(8)) {
    uint64_t word;
    std::memcpy(&word, key.data(), 8);
    hash = Mix(hash ^ word) * 0x9E3779B97F4A7C15U;
  }
  uint64_t rest = 0;
  for (size_t i = 0; i < key.size(); ++i) rest |= uint64_t{ByteAt(key, i)} << (8 * i);
  return Mix(hash ^ rest);
}

Bytes MakeBloom(std::span<const uint64_t> hashes) {
  Bytes bits((hashes.size() * kBitsPerKey + 7) / 8, '\0');
  const uint64_t count = bits.size() * 8;
  for (uint64_t hash : hashes) {
    const uint64_t step = hash >> 32 | 1;
    for (int i = 0; i < kProbes; ++i, hash += step) {
      const uint64_t bit = hash % count;
      bits[bit / 8] = static_cast<char>(bits[bit / 8] | 1 << bit % 8);
    }
  }
  return bits;
}

bool BloomPasses(ByteView bits, uint64_t hash) {
  if (bits.empty()) return true;
  const uint64_t count = bits.size() * 8;
  const uint64_t step = hash >> 32 | 1;
  for (int i = 0; i < kProbes; ++i, hash += step) {
    const uint64_t bit = hash % count;
    if ((ByteAt(bits, bit / 8) >> bit % 8 & 1) == 0) return false;
  }
  return true;
}

}  // namespace hg::lsm
