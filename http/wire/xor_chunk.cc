#include "http/wire/xor_chunk.h"

#include <bit>

#include "storage/base/invariant.h"

namespace hg::http {

void XorChunk::Add(int64_t time_ms, double value) {
  INVARIANT(size_ < kChunkSamplesMax);
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto unsigned_time = static_cast<uint64_t>(time_ms);
  if (size_ == 0) {
    first_ms_ = time_ms;
    // Zig-zag encoding makes negative times short, too.
    AppendVarintBits((unsigned_time << 1) ^ static_cast<uint64_t>(time_ms >> 63));
    AppendBits(bits, 64);
    value_ = bits;
  } else {
    const auto delta_ms = static_cast<int64_t>(unsigned_time - static_cast<uint64_t>(last_ms_));
    if (size_ == 1) {
      AppendVarintBits(static_cast<uint64_t>(delta_ms));
    } else {
      AppendTimeChange(
          static_cast<int64_t>(static_cast<uint64_t>(delta_ms) - static_cast<uint64_t>(delta_ms_)));
    }
    delta_ms_ = delta_ms;
    AppendValue(bits);
  }
  last_ms_ = time_ms;
  ++size_;
  bytes_[0] = static_cast<char>(size_ >> 8);
  bytes_[1] = static_cast<char>(size_ & 0xFF);
}

void XorChunk::AppendBits(uint64_t bits, int count) {
  while (count > 0) {
    if (free_bits_ == 0) {
      bytes_.push_back('\0');
      free_bits_ = 8;
    }
    const int taken = count < free_bits_ ? count : free_bits_;
    const uint64_t part = bits >> (count - taken) & ((uint64_t{1} << taken) - 1);
    bytes_.back() =
        static_cast<char>(static_cast<uint8_t>(bytes_.back()) | part << (free_bits_ - taken));
    free_bits_ -= taken;
    count -= taken;
  }
}

void XorChunk::AppendVarintBits(uint64_t number) {
  for (; number >= 0x80; number >>= 7) AppendBits((number & 0x7F) | 0x80, 8);
  AppendBits(number, 8);
}

void XorChunk::AppendTimeChange(int64_t change) {
  struct Size {
    int bits, prefix, prefix_bits;
  };
  if (change == 0) return AppendBits(0, 1);
  for (const Size size : {Size{14, 0b10, 2}, Size{17, 0b110, 3}, Size{20, 0b1110, 4}}) {
    const int64_t most = int64_t{1} << (size.bits - 1);
    if (change <= -most || change > most) continue;
    AppendBits(static_cast<uint64_t>(size.prefix), size.prefix_bits);
    return AppendBits(static_cast<uint64_t>(change), size.bits);
  }
  AppendBits(0b1111, 4);
  AppendBits(static_cast<uint64_t>(change), 64);
}

void XorChunk::AppendValue(uint64_t bits) {
  const uint64_t changed = bits ^ value_;
  value_ = bits;
  if (changed == 0) return AppendBits(0, 1);
  AppendBits(1, 1);
  constexpr int kLeadingMax = 31;  // the field has five bits
  const int leading =
      std::countl_zero(changed) < kLeadingMax ? std::countl_zero(changed) : kLeadingMax;
  const int trailing = std::countr_zero(changed);
  if (leading_ != kNoWindow && leading >= leading_ && trailing >= trailing_) {
    AppendBits(0, 1);
    return AppendBits(changed >> trailing_, 64 - leading_ - trailing_);
  }
  leading_ = leading;
  trailing_ = trailing;
  const int count = 64 - leading - trailing;
  AppendBits(1, 1);
  AppendBits(static_cast<uint64_t>(leading), 5);
  AppendBits(static_cast<uint64_t>(count) & 63, 6);  // 0 means 64
  AppendBits(changed >> trailing, count);
}

}  // namespace hg::http
