#pragma once
// Encodes the numbers of a row as a stream, and decodes streams. The encoder selects the smallest
// of several encodings (FORMAT.md "Row", stream). Only row_codec uses this file.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/point.h"
#include "storage/points/byte_reader.h"

namespace hg::points {

/// A value whose stored width differs from the width that the rule of its stream defines.
struct StreamException {
  uint32_t position = 0;
  PointValue value;
};

enum IntRule : uint8_t { kIntsShortest = 0, kIntsWide = 1 };
enum FloatRule : uint8_t { kFloatsWide = 0, kFloatsShortest = 1, kFloatsSingle = 2 };

/// IntByRule and FloatByRule return a number in the width that the rule (IntRule, FloatRule) of its
/// stream defines. For integers, kIntsShortest selects the same width as PointValue::Int, but
/// IntByRule computes it without a branch.
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

/// The content of a decoded stream, except the numbers of the stream.
struct StreamRest {
  uint8_t rule = 0;
  std::vector<StreamException> exceptions;  // sorted by position
};

/// DecodeInts sets wide[0, n) to int64 numbers. DecodeFloats sets wide[0, n) to the bits of
/// doubles, also for values that are stored as 4-byte floats. Both functions apply the exceptions
/// of the stream to `wide`. Both return false if the bytes are not a valid stream.
bool DecodeInts(ByteReader* in, size_t n, uint64_t* wide, StreamRest* rest);
bool DecodeFloats(ByteReader* in, size_t n, uint64_t* wide, StreamRest* rest);

/// How the numbers of a stream are stored. The value is in the low nibble of the kind byte of the
/// stream.
enum StreamWay : uint8_t {
  kEqual = 0,
  kRange = 1,
  kSteps = 2,
  kAsTheyAre = 3,
  kSplit = 4,      // as kRange or kSteps, but split in two pieces (split_stream.h)
  kSplitBits = 5,  // as kAsTheyAre for floats, but split in two pieces
};

/// Reads a stream and appends it to `out`. If splitting packed or verbatim numbers in two pieces is
/// likely to save space, SplitStream splits them; otherwise it copies the stream. It checks that
/// the result decodes to the same values. Returns false if the bytes are not a valid stream.
bool SplitStream(ByteReader* in, bool floats, size_t n, Bytes* out);

}  // namespace hg::points
