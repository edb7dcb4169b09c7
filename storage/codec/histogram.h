#pragma once
// Histograms: objects in the data table (spec schema.md §12). Value: codec id, then the codec's
// payload. The one codec here is OpenTSDB's SimpleHistogram, whose payload is a Kryo 3 stream.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/timestamp.h"

namespace hg::codec {

/// 06 ‖ u16 seconds, or 06 ‖ u32 milliseconds, by the form of the time alone.
Bytes HistogramQualifier(Timestamp time);

/// Milliseconds from the row's base. Corruption: neither three nor five bytes behind 06.
Result<uint32_t> HistogramOffsetMs(ByteView qualifier);

struct HistogramBucket {
  float lower = 0;
  float upper = 0;
  uint64_t count = 0;

  bool operator==(const HistogramBucket&) const = default;
};

struct SimpleHistogram {
  uint8_t codec_id = 0;
  std::vector<HistogramBucket> buckets;  // by lower, then upper bound; at most 32,767
  uint64_t underflow = 0;
  uint64_t overflow = 0;

  bool operator==(const SimpleHistogram&) const = default;
};

inline constexpr size_t kHistogramBytesMin =
    6;  // fewer cannot be decoded, though they can be written
inline constexpr size_t kHistogramBucketsMax = 32767;

/// The stored value, codec id included. Sorts the buckets; of equal bounds the last one stays.
/// InvalidArgument: more than kHistogramBucketsMax buckets.
Result<Bytes> EncodeSimpleHistogram(SimpleHistogram histogram);

/// Corruption: fewer than kHistogramBytesMin bytes, a negative number of buckets, or cut short.
/// What follows the payload is not looked at.
Result<SimpleHistogram> DecodeSimpleHistogram(ByteView value);

}  // namespace hg::codec
