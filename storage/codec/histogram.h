#pragma once
// Histograms are objects in the data table (opentsdb-schema.md §12). The value of a histogram cell
// is the codec id and the payload of the codec. The only codec in this file is OpenTSDB's
// SimpleHistogram, whose payload is a Kryo 3 stream.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/timestamp.h"

namespace hg::codec {

/// Returns the qualifier of a histogram cell: 06 ‖ u16 seconds if `time` is in seconds, or 06 ‖ u32
/// milliseconds if `time` is in milliseconds.
Bytes HistogramQualifier(Timestamp time);

/// Returns the milliseconds from the base of the row that the qualifier encodes. Returns Corruption
/// if the qualifier is not 06 followed by two or four bytes.
Result<uint32_t> HistogramOffsetMs(ByteView qualifier);

struct HistogramBucket {
  float lower = 0;
  float upper = 0;
  uint64_t count = 0;

  bool operator==(const HistogramBucket&) const = default;
};

struct SimpleHistogram {
  uint8_t codec_id = 0;
  // The buckets, sorted by lower bound and then by upper bound; at most 32,767.
  std::vector<HistogramBucket> buckets;
  uint64_t underflow = 0;
  uint64_t overflow = 0;

  bool operator==(const SimpleHistogram&) const = default;
};

/// The minimum size in bytes of a histogram value from a client. OpenTSDB rejects shorter values.
/// OpenTSDB itself stores five bytes for a histogram without buckets, but cannot read these bytes.
inline constexpr size_t kHistogramBytesMin = 6;
inline constexpr size_t kHistogramBucketsMax = 32767;

/// Returns the value to store, including the codec id. Sorts the buckets. If several buckets have
/// equal bounds, keeps the last one. Returns InvalidArgument if there are more than
/// kHistogramBucketsMax buckets.
Result<Bytes> EncodeSimpleHistogram(SimpleHistogram histogram);

/// Decodes a stored histogram. Returns Corruption if the value is truncated. Ignores bytes after
/// the payload. A negative number of buckets means no buckets.
Result<SimpleHistogram> DecodeSimpleHistogram(ByteView value);

}  // namespace hg::codec
