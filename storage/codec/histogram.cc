#include "storage/codec/histogram.h"

#include <algorithm>
#include <bit>
#include <compare>

#include "storage/codec/cell_class.h"

namespace hg::codec {
namespace {

constexpr int kKryoLongMax = 9;  // in bytes: eight bytes of 7 bits and one of 8 bits

void AppendKryoLong(Bytes* out, uint64_t v) {
  for (int i = 0; i < kKryoLongMax - 1 && v >= 0x80; ++i, v >>= 7)
    out->push_back(static_cast<char>(v | 0x80));
  out->push_back(static_cast<char>(v));
}

bool TakeKryoLong(ByteView* in, uint64_t* v) {
  *v = 0;
  for (int i = 0; i < kKryoLongMax; ++i) {
    if (in->empty()) return false;
    const uint8_t byte = ByteAt(*in, 0);
    in->remove_prefix(1);
    if (i == kKryoLongMax - 1) {
      *v |= static_cast<uint64_t>(byte) << 56;
      return true;
    }
    *v |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) return true;
  }
  return true;
}

bool TakeFloat(ByteView* in, float* v) {
  if (in->size() < 4) return false;
  *v = std::bit_cast<float>(ReadBig32(in->data()));
  in->remove_prefix(4);
  return true;
}

bool TakeBucket(ByteView* in, HistogramBucket* bucket) {
  return TakeFloat(in, &bucket->lower) && TakeFloat(in, &bucket->upper) &&
         TakeKryoLong(in, &bucket->count);
}

// Compares two buckets by their bounds. Like Java's Float.compare, it orders −0.0 before 0.0 and
// NaN last, so that the order is total.
std::strong_ordering CompareBounds(const HistogramBucket& a, const HistogramBucket& b) {
  if (const auto c = std::strong_order(a.lower, b.lower); c != 0) return c;
  return std::strong_order(a.upper, b.upper);
}

void SortBuckets(std::vector<HistogramBucket>* buckets) {
  std::stable_sort(buckets->begin(), buckets->end(),
                   [](const auto& a, const auto& b) { return CompareBounds(a, b) < 0; });
  // std::unique keeps the first of equal elements. With reverse iterators, it keeps the last.
  const auto last =
      std::unique(buckets->rbegin(), buckets->rend(),
                  [](const auto& a, const auto& b) { return CompareBounds(a, b) == 0; });
  buckets->erase(buckets->begin(), last.base());
}

}  // namespace

Bytes HistogramQualifier(Timestamp time) {
  Bytes qualifier(1, kHistogramPrefix);
  const int64_t offset_s = time.seconds() % kRowSpan;
  if (time.is_millis()) {
    AppendBig(&qualifier, static_cast<uint64_t>(offset_s * 1000 + time.raw % 1000), 4);
  } else {
    AppendBig(&qualifier, static_cast<uint64_t>(offset_s), 2);
  }
  return qualifier;
}

Result<uint32_t> HistogramOffsetMs(ByteView qualifier) {
  if (!qualifier.empty() && qualifier[0] == kHistogramPrefix) {
    if (qualifier.size() == 3) return uint32_t{ReadBig16(qualifier.data() + 1)} * 1000;
    if (qualifier.size() == 5) return ReadBig32(qualifier.data() + 1);
  }
  return Status::Corruption("not a histogram qualifier: " + ToHexUpper(qualifier));
}

Result<Bytes> EncodeSimpleHistogram(SimpleHistogram histogram) {
  SortBuckets(&histogram.buckets);
  if (histogram.buckets.size() > kHistogramBucketsMax) {
    return Status::InvalidArgument("the histogram has " + std::to_string(histogram.buckets.size()) +
                                   " buckets; the maximum is " +
                                   std::to_string(kHistogramBucketsMax));
  }
  Bytes out;
  AppendBig(&out, histogram.codec_id, 1);
  AppendBig(&out, histogram.buckets.size(), 2);
  for (const HistogramBucket& bucket : histogram.buckets) {
    AppendBig(&out, std::bit_cast<uint32_t>(bucket.lower), 4);
    AppendBig(&out, std::bit_cast<uint32_t>(bucket.upper), 4);
    AppendKryoLong(&out, bucket.count);
  }
  AppendKryoLong(&out, histogram.underflow);
  AppendKryoLong(&out, histogram.overflow);
  return out;
}

Result<SimpleHistogram> DecodeSimpleHistogram(ByteView value) {
  const auto damaged = [value](const char* why) {
    return Status::Corruption(std::string("histogram: ") + why + ": " + ToHexUpper(value));
  };
  if (value.size() < 3) return damaged("fewer than 3 bytes");
  SimpleHistogram histogram;
  histogram.codec_id = ByteAt(value, 0);
  const auto count = static_cast<int16_t>(ReadBig16(value.data() + 1));
  // OpenTSDB treats a negative count as no buckets, and writes 0 when it stores the histogram
  // again.
  ByteView rest = value.substr(3);
  for (int i = 0; i < count; ++i) {
    HistogramBucket bucket;
    if (!TakeBucket(&rest, &bucket)) return damaged("bucket is cut short");
    histogram.buckets.push_back(bucket);
  }
  if (!TakeKryoLong(&rest, &histogram.underflow) || !TakeKryoLong(&rest, &histogram.overflow)) {
    return damaged("underflow or overflow is cut short");
  }
  return histogram;
}

}  // namespace hg::codec
