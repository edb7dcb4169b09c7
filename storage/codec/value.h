#pragma once
// The bytes of the stored value of one point: a big-endian integer in two's complement, or
// big-endian IEEE bits. The flags define the length of the value (opentsdb-schema.md §7.1).

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

/// Decodes the value at p and returns it as PointValue::bits. ValueWidth(flags) bytes must be
/// readable at p. Integers are sign-extended.
inline uint64_t ReadValueBits(const char* p, uint8_t flags) {
  const int width = ValueWidth(flags);
  const uint64_t raw = ReadBig(p, width);
  if ((flags & kFloatFlag) != 0 || width == 8) return raw;
  const int shift = 64 - 8 * width;
  return static_cast<uint64_t>(static_cast<int64_t>(raw << shift) >> shift);
}

/// Returns whether `a` and `b` have the same value bytes. Duplicates are compared in this way, so
/// values of equal width and bytes are equal even if their flags differ (opentsdb-schema.md §9.4).
inline bool SameValueBytes(const PointValue& a, const PointValue& b) {
  const int width = ValueWidth(a.flags);
  if (width != ValueWidth(b.flags)) return false;
  const uint64_t mask = width == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * width)) - 1;
  return (a.bits & mask) == (b.bits & mask);
}

}  // namespace hg::codec
