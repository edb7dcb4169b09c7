#include "http/wire/histogram_text.h"

#include <algorithm>

#include "storage/model/number_text.h"

namespace hg::http {
namespace {

Bytes FromBase64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Bytes out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) continue;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count));
  }
  return out;
}

std::string SignedBytes(ByteView bytes) {
  if (bytes.empty()) return "\"\"";
  std::string text = "[";
  for (const char c : bytes) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(static_cast<int>(static_cast<int8_t>(c)));
  }
  return text + "]";
}

}  // namespace

Status AddBucket(std::string_view bounds, int64_t count, codec::SimpleHistogram* histogram) {
  const size_t comma = bounds.find(',');
  std::string_view upper =
      comma == std::string_view::npos ? std::string_view() : bounds.substr(comma + 1);
  // Java's split drops empty parts at the end.
  while (upper.ends_with(',')) upper.remove_suffix(1);
  if (upper.empty() || upper.find(',') != std::string_view::npos)
    return Status::InvalidArgument("Unable to parse bucket bounds: " + std::string(bounds));
  codec::HistogramBucket bucket;
  bucket.count = static_cast<uint64_t>(count);
  if (!ParseJavaFloat(bounds.substr(0, comma), &bucket.lower) ||
      !ParseJavaFloat(upper, &bucket.upper))
    return Status::InvalidArgument("Unable to parse value to a number");
  histogram->buckets.push_back(bucket);
  return {};
}

bool ParseBucketWords(std::string_view text, codec::SimpleHistogram* histogram) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view name = part.substr(0, equals);
    int64_t count = 0;
    NumberError error;
    if (!ParseLong(part.substr(equals + 1), &count, &error)) return false;
    if (name == "u" || name == "U") {
      histogram->underflow = static_cast<uint64_t>(count);
    } else if (name == "o" || name == "O") {
      histogram->overflow = static_cast<uint64_t>(count);
    } else if (!AddBucket(name, count, histogram).ok()) {
      return false;
    }
  }
  return true;
}

Result<codec::SimpleHistogram> DecodeHistogramText(std::string_view base64, uint8_t codec_id) {
  const Bytes body = FromBase64(base64);
  if (body.size() < codec::kHistogramBytesMin) {
    return Status::InvalidArgument("Byte array shorter than 6 bytes detected: " +
                                   SignedBytes(body));
  }
  Result<codec::SimpleHistogram> histogram =
      codec::DecodeSimpleHistogram(Bytes(1, static_cast<char>(codec_id)) + body);
  if (!histogram.ok()) return Status::InvalidArgument(std::string(histogram.status().message()));
  return histogram;
}

}  // namespace hg::http
