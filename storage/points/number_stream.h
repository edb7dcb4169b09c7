#pragma once
// A run of numbers inside an encoded row: which of the ways is smallest, and back (FORMAT.md "Row",
// stream). Internal to row_codec.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/point.h"
#include "storage/points/byte_reader.h"

namespace hg::points {

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

/// How the numbers of a stream are stored; the low nibble of its kind.
enum StreamWay : uint8_t {
  kEqual = 0,
  kRange = 1,
  kSteps = 2,
  kAsTheyAre = 3,
  kSplit = 4,      // what kRange and kSteps hold, cut in two (split_stream.h)
  kSplitBits = 5,  // what kAsTheyAre of floats holds, cut in two
};

/// Moves a stream behind `out`: numbers that are packed or stand as they are come out cut in two
/// where that is worth while, others unchanged. Tried: it decodes to the same values. False if the
/// bytes cannot be a stream.
bool SplitStream(ByteReader* in, bool floats, size_t n, Bytes* out);

}  // namespace hg::points
