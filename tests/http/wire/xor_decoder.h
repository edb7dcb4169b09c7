#pragma once
// Decodes chunks of samples in the XOR chunk format, which Prometheus documents. Tests compare the
// result with the samples that were encoded.

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hg::http {

struct XorSample {
  int64_t time_ms = 0;
  double value = 0;
};

class XorDecoder {
 public:
  explicit XorDecoder(std::string_view bytes) : bytes_(bytes) {}

  std::vector<XorSample> Run() {
    std::vector<XorSample> out;
    const uint64_t count = Bits(16);
    int64_t time_ms = 0, delta_ms = 0;
    uint64_t value = 0;
    int leading = 0, significant = 0;
    for (uint64_t i = 0; i < count; ++i) {
      if (i == 0) {
        const uint64_t zigzag = Varint();
        time_ms = static_cast<int64_t>(zigzag >> 1) ^ -static_cast<int64_t>(zigzag & 1);
        value = Bits(64);
      } else {
        delta_ms = i == 1 ? static_cast<int64_t>(Varint()) : delta_ms + Change();
        time_ms += delta_ms;
        if (Bits(1) == 1) {
          if (Bits(1) == 1) {
            leading = static_cast<int>(Bits(5));
            significant = static_cast<int>(Bits(6));
            if (significant == 0) significant = 64;
          }
          value ^= Bits(significant) << (64 - leading - significant);
        }
      }
      out.push_back({time_ms, std::bit_cast<double>(value)});
    }
    CHECK((at_ + 7) / 8 == bytes_.size());
    return out;
  }

 private:
  uint64_t Bits(int count) {
    uint64_t out = 0;
    for (int i = 0; i < count; ++i, ++at_) {
      REQUIRE(at_ / 8 < bytes_.size());
      out = out << 1 | (static_cast<uint8_t>(bytes_[at_ / 8]) >> (7 - at_ % 8) & 1);
    }
    return out;
  }

  uint64_t Varint() {
    uint64_t out = 0;
    for (int shift = 0;; shift += 7) {
      const uint64_t byte = Bits(8);
      out |= (byte & 0x7F) << shift;
      if (byte < 0x80) return out;
    }
  }

  int64_t Change() {
    int ones = 0;
    while (ones < 4 && Bits(1) == 1) ++ones;
    if (ones == 0) return 0;
    if (ones == 4) return static_cast<int64_t>(Bits(64));
    const int size = 11 + 3 * ones;
    const auto bits = static_cast<int64_t>(Bits(size));
    return bits > int64_t{1} << (size - 1) ? bits - (int64_t{1} << size) : bits;
  }

  const std::string_view bytes_;
  size_t at_ = 0;  // position in the chunk, counted in bits
};

inline std::vector<XorSample> DecodeXorChunk(std::string_view bytes) {
  return XorDecoder(bytes).Run();
}

}  // namespace hg::http
