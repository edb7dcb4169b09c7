#pragma once
// One number as it is stored: 64 value bits and the four type flags of its qualifier
// (opentsdb-schema.md §6.1, §7).

#include <bit>
#include <cstdint>

namespace hg {

/// The low four bits of a qualifier. If bit 3 is set, the value is floating point. Bits 2–0 are the
/// length of the value in bytes minus 1. Valid values are 0, 1, 3, 7, B and F.
enum PointFlags : uint8_t {
  kInt8 = 0x0,
  kInt16 = 0x1,
  kInt32 = 0x3,
  kInt64 = 0x7,
  kFloat32 = 0xB,
  kFloat64 = 0xF,
};
inline constexpr uint8_t kFloatFlag = 0x8;
inline constexpr uint8_t kLengthMask = 0x7;

constexpr bool ValidPointFlags(uint8_t flags) {
  return flags == kInt8 || flags == kInt16 || flags == kInt32 || flags == kInt64 ||
         flags == kFloat32 || flags == kFloat64;
}
/// Returns the length of the stored value in bytes.
constexpr int ValueWidth(uint8_t flags) { return (flags & kLengthMask) + 1; }

/// A number as it is stored.
struct PointValue {
  // Integers are in two's complement and sign-extended to 64 bits. A kFloat32 is an IEEE float in
  // the low 32 bits. A kFloat64 is an IEEE double.
  uint64_t bits = 0;
  uint8_t flags = kInt8;

  [[nodiscard]] bool is_float() const { return (flags & kFloatFlag) != 0; }
  [[nodiscard]] int64_t as_int() const { return static_cast<int64_t>(bits); }
  /// Returns the number as a double. Floats are converted exactly.
  [[nodiscard]] double as_double() const {
    if (flags == kFloat32)
      return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    if (flags == kFloat64) return std::bit_cast<double>(bits);
    return static_cast<double>(as_int());
  }

  /// Stores an integer in the shortest possible length of 1, 2, 4 or 8 bytes (OpenTSDB
  /// Internal.vleEncodeLong).
  static constexpr PointValue Int(int64_t v) {
    uint8_t flags = v == static_cast<int8_t>(v)    ? kInt8
                    : v == static_cast<int16_t>(v) ? kInt16
                    : v == static_cast<int32_t>(v) ? kInt32
                                                   : kInt64;
    return {static_cast<uint64_t>(v), flags};
  }
  static PointValue Float(float v) { return {std::bit_cast<uint32_t>(v), kFloat32}; }
  static PointValue Double(double v) { return {std::bit_cast<uint64_t>(v), kFloat64}; }

  bool operator==(const PointValue&) const = default;
};

}  // namespace hg
