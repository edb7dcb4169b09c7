#pragma once
// The column qualifier of one point encodes the offset within the hour, the resolution, and the
// type of the value (opentsdb-schema.md §6.1). A qualifier with seconds takes two bytes. A
// qualifier with milliseconds takes four bytes, and its top nibble is F.

#include <cstdint>

#include "storage/base/bytes.h"
#include "storage/model/point.h"
#include "storage/model/timestamp.h"

namespace hg::codec {

inline constexpr uint32_t kMillisMark = 0xF0000000;
inline constexpr uint32_t kMillisOffsetMask = 0x3FFFFF;  // 22 bits; an hour has offsets 0…3,599,999
inline constexpr uint32_t kSecondOffsetMask = 0xFFF;     // 12 bits; an hour has offsets 0…3,599

/// The qualifier of one point, with the same bits as PointEntry::qualifier. Immutable. A Qualifier
/// may hold any bit pattern. valid_flags() returns whether its flags are valid.
struct Qualifier {
  uint32_t bits = 0;  // the 2-byte form in the low 16 bits, or the 4-byte form

  [[nodiscard]] constexpr bool is_millis() const { return bits >= kMillisMark; }
  /// Returns the stored length of the qualifier in bytes: 2 or 4.
  [[nodiscard]] constexpr int width() const { return is_millis() ? 4 : 2; }
  [[nodiscard]] constexpr uint8_t flags() const { return bits & 0xF; }
  [[nodiscard]] constexpr bool valid_flags() const { return ValidPointFlags(flags()); }
  [[nodiscard]] constexpr bool is_float() const { return (bits & kFloatFlag) != 0; }
  /// Returns the length of the value in bytes (1…8), which the flags define.
  [[nodiscard]] constexpr int value_width() const { return ValueWidth(flags()); }
  /// Returns the offset in milliseconds from the base time of the row.
  [[nodiscard]] constexpr uint32_t offset_ms() const {
    return is_millis() ? (bits >> 6) & kMillisOffsetMask : (bits >> 4) * 1000;
  }
  /// Returns a qualifier with the same time and resolution, but with the given flags. Keeps the
  /// reserved bits of the millisecond form.
  [[nodiscard]] constexpr Qualifier with_flags(uint8_t flags) const {
    return {(bits & ~uint32_t{0xF}) | flags};
  }

  static constexpr Qualifier Seconds(uint32_t offset_s, uint8_t flags) {
    return {(offset_s & kSecondOffsetMask) << 4 | flags};
  }
  static constexpr Qualifier Millis(uint32_t offset_ms, uint8_t flags) {
    return {kMillisMark | (offset_ms & kMillisOffsetMask) << 6 | flags};
  }
  /// Returns the qualifier of a point at `time`, which must be in range.
  static Qualifier Of(Timestamp time, uint8_t flags) {
    const auto offset_s = static_cast<uint32_t>(time.seconds() % kRowSpan);
    if (!time.is_millis()) return Seconds(offset_s, flags);
    return Millis(offset_s * 1000 + static_cast<uint32_t>(time.raw % 1000), flags);
  }

  void AppendTo(Bytes* out) const { AppendBig(out, bits, width()); }
  [[nodiscard]] Bytes Encode() const {
    Bytes out;
    AppendTo(&out);
    return out;
  }

  constexpr bool operator==(const Qualifier&) const = default;
};

/// Returns whether a qualifier with this first byte has four bytes and an offset in milliseconds.
constexpr bool StartsMillisQualifier(uint8_t first) { return first >= 0xF0; }

/// Removes one qualifier from the front of `in`. If `in` does not begin with a complete qualifier,
/// returns false and leaves `in` and `out` unchanged.
inline bool TakeQualifier(ByteView* in, Qualifier* out) {
  if (in->empty()) return false;
  const size_t width = StartsMillisQualifier(ByteAt(*in, 0)) ? 4 : 2;
  if (in->size() < width) return false;
  out->bits = width == 4 ? ReadBig32(in->data()) : ReadBig16(in->data());
  in->remove_prefix(width);
  return true;
}

/// A point as rows store it. `bits` has the same meaning as in PointValue: integers are
/// sign-extended, and floats are in the low 32 bits.
struct StoredPoint {
  Qualifier qualifier;
  uint64_t bits = 0;

  [[nodiscard]] uint32_t offset_ms() const { return qualifier.offset_ms(); }
  [[nodiscard]] PointValue value() const { return {bits, qualifier.flags()}; }

  bool operator==(const StoredPoint&) const = default;
};

}  // namespace hg::codec
