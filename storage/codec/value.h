#pragma once
// The bytes of the stored value of one point: big-endian two's complement or IEEE bits. The flags
// define the length (opentsdb-schema.md §7.1).

#include "storage/base/bytes.h"
#include "storage/model/point.h"

namespace hg::codec {

inline void AppendValue(Bytes* out, const PointValue& value) {
  AppendBig(out, value.bits, ValueWidth(value.flags));
}

inline Bytes EncodeValue(const PointValue& value) {
  Bytes out;
  AppendValue(&out, value);
  return out;
}

/// Returns PointValue::bits for the value at p, where ValueWidth(flags) bytes must be readable.
/// Integers are sign-extended.
inline uint64_t ReadValueBits(const char* p, uint8_t flags) {
  const int width = ValueWidth(flags);
  const uint64_t raw = ReadBig(p, width);
  if ((flags & kFloatFlag) != 0 || width == 8) return raw;
  const int shift = 64 - 8 * width;
  return static_cast<uint64_t>(static_cast<int64_t>(raw << shift) >> shift);
}

/// Returns whether both have the same value bytes. Duplicates are compared in this way, so if the
/// widths are equal, different flags have no influence (opentsdb-schema.md §9.4).
inline bool SameValueBytes(const PointValue& a, const PointValue& b) {
  const int width = ValueWidth(a.flags);
  if (width != ValueWidth(b.flags)) return false;
  const uint64_t mask = width == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * width)) - 1;
  return (a.bits & mask) == (b.bits & mask);
}

}  // namespace hg::codec
