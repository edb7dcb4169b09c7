#pragma once
// A run of numbers inside an encoded row: which of four ways is smallest, and back (FORMAT.md
// "Row", stream). Internal to row_codec.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/varint.h"
#include "storage/model/point.h"
#include "storage/points/bit_pack.h"

namespace hg::points {

/// Takes bytes off the front; once something is missing everything reads as zero and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(ByteView in) : in_(in) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] ByteView rest() const { return in_; }
  void Fail() {
    ok_ = false;
    in_ = {};
  }
  uint8_t U8() {
    const ByteView b = Take(1);
    return b.empty() ? 0 : ByteAt(b, 0);
  }
  uint64_t Varint() {
    uint64_t v = 0;
    if (!GetVarint64(&in_, &v)) Fail();
    return v;
  }
  int64_t Zz() { return UnZigZag(Varint()); }
  uint64_t Big(int width) {
    const ByteView b = Take(static_cast<size_t>(width));
    return b.empty() ? 0 : ReadBig(b.data(), width);
  }
  /// Empty if there are fewer.
  ByteView Take(size_t n) {
    if (n > in_.size()) Fail();
    if (!ok_) return {};
    const ByteView taken = in_.substr(0, n);
    in_.remove_prefix(n);
    return taken;
  }
  /// A width byte and that many packed numbers; `*width` 0 after a failure.
  ByteView Packed(size_t count, int* width) {
    *width = U8();
    if (*width > 64) Fail();
    const ByteView packed = ok_ ? Take(PackedBytes(count, *width)) : ByteView();
    if (!ok_) *width = 0;
    return packed;
  }

 private:
  ByteView in_;
  bool ok_ = true;
};

/// One member whose bits the rule of its stream does not give.
struct StreamException {
  uint32_t position = 0;
  PointValue value;
};

enum IntRule : uint8_t { kIntsShortest = 0, kIntsWide = 1 };
enum FloatRule : uint8_t { kFloatsWide = 0, kFloatsShortest = 1, kFloatsSingle = 2 };

/// The stored value of a number by its stream's rule. (The widths as PointValue::Int picks them,
/// without a branch.)
inline PointValue IntByRule(uint8_t rule, int64_t v) {
  if (rule == kIntsWide) return {static_cast<uint64_t>(v), kInt64};
  const int width = std::bit_width(static_cast<uint64_t>(v ^ v >> 63));
  const int flags = (width >= 8 ? 1 : 0) + (width >= 16 ? 2 : 0) + (width >= 32 ? 4 : 0);
  return {static_cast<uint64_t>(v), static_cast<uint8_t>(flags)};
}
inline PointValue FloatByRule(uint8_t rule, double v) {
  if (rule == kFloatsWide) return PointValue::Double(v);
  const auto single = static_cast<float>(v);
  if (rule == kFloatsSingle || static_cast<double>(single) == v) return PointValue::Float(single);
  return PointValue::Double(v);
}

void EncodeInts(std::span<const PointValue> values, Bytes* out);
void EncodeFloats(std::span<const PointValue> values, Bytes* out);

/// What is left to know of a decoded stream.
struct StreamRest {
  uint8_t rule = 0;
  std::vector<StreamException> exceptions;  // by position
};

/// Fill wide[0, n): int64, or the bits of a double (singles are widened), exceptions included.
/// False if the bytes cannot be a stream.
bool DecodeInts(ByteReader* in, size_t n, uint64_t* wide, StreamRest* rest);
bool DecodeFloats(ByteReader* in, size_t n, uint64_t* wide, StreamRest* rest);

}  // namespace hg::points
