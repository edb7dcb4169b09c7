#pragma once
// Hash functions for texts and numbers that clients choose. The keys of the hash functions are
// drawn at random, so clients cannot choose texts that collide. With std::hash, a client can
// compute any number of texts with equal hashes, and a look-up then compares all of them. The same
// holds for numbers: std::hash returns a number unchanged.

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <unordered_set>

#include "storage/base/bytes.h"
#include "storage/base/random_bits.h"

namespace hg::keyed_hash {

inline uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

inline uint64_t Load32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}

/// The hash function wyhash (public domain). Its known weakness is input words that equal one of
/// its constants. Clients cannot exploit this weakness, because each process draws its own
/// constants at random.
inline uint64_t HashBytes(std::string_view bytes, uint64_t seed, const uint64_t (&secret)[3]) {
  const char* p = bytes.data();
  size_t n = bytes.size();
  uint64_t a, b;
  if (n <= 16) {
    if (n >= 8) {
      a = Load64(p);
      b = Load64(p + n - 8);
    } else if (n >= 4) {
      a = Load32(p);
      b = Load32(p + n - 4);
    } else if (n > 0) {
      a = static_cast<uint64_t>(static_cast<uint8_t>(p[0])) << 16 |
          static_cast<uint64_t>(static_cast<uint8_t>(p[n / 2])) << 8 |
          static_cast<uint8_t>(p[n - 1]);
      b = 0;
    } else {
      a = b = 0;
    }
  } else {
    uint64_t other = seed;
    while (n > 32) {
      seed = Mix(Load64(p) ^ secret[1], Load64(p + 8) ^ seed);
      other = Mix(Load64(p + 16) ^ secret[2], Load64(p + 24) ^ other);
      p += 32;
      n -= 32;
    }
    if (n > 16) {
      seed = Mix(Load64(p) ^ secret[2], Load64(p + 8) ^ seed);
    }
    seed ^= other;
    // The last 16 bytes may overlap bytes that were already read. Reading the last 16 bytes is
    // safe, because the text is longer than 16 bytes.
    a = Load64(p + n - 16);
    b = Load64(p + n - 8);
  }
  return Mix(secret[0] ^ bytes.size(), Mix(a ^ secret[1], b ^ seed));
}

/// A keyed hash function for hash tables. Its secret key is drawn at random once per process.
/// Thread-safe.
struct Hash {
  using is_transparent = void;
  using is_avalanching = void;

  size_t operator()(std::string_view text) const {
    static const Secret secret;
    return HashBytes(text, secret.words[0], secret.words);
  }
  size_t operator()(uint64_t number) const {
    return (*this)(std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
  }

 private:
  struct Secret {
    Secret() {
      // The hash function multiplies by these words, so they must not be 0. Each word is made odd.
      for (uint64_t& word : words) word = RandomBits() | 1;
    }
    uint64_t words[3];
  };
};

/// A set of texts that clients choose.
using Set = std::unordered_set<Bytes, Hash, std::equal_to<>>;

}  // namespace hg::keyed_hash
