#include "http/wire/histogram_text.h"

#include <algorithm>
#include <iterator>

#include "http/wire/base64.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

/// Returns a quoted text if at least half of the bytes are printable, otherwise a list of numbers
/// (as asynchbase's Bytes.pretty does).
std::string Pretty(ByteView bytes) {
  std::string text = "\"", list = "[";
  size_t printable = 0;
  for (const char c : bytes) {
    if (c >= ' ' && c <= '~') {
      ++printable;
      text += c;
    } else if (c == '\n' || c == '\t') {
      text += c == '\n' ? "\\n" : "\\t";
    } else {
      text += "\\x" + ToHexUpper(ByteView(&c, 1));
    }
    if (list.size() > 1) list += ", ";
    list += std::to_string(static_cast<int>(static_cast<int8_t>(c)));
  }
  return printable < bytes.size() / 2 ? list + "]" : text + "\"";
}

}  // namespace

Status AddBucket(std::string_view bounds, int64_t count, codec::SimpleHistogram* histogram) {
  const size_t comma = bounds.find(',');
  std::string_view upper =
      comma == std::string_view::npos ? std::string_view() : bounds.substr(comma + 1);
  // As in Java's split, empty parts at the end are dropped.
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
    return Status::InvalidArgument("Byte array shorter than 6 bytes detected: " + Pretty(body));
  }
  Result<codec::SimpleHistogram> histogram =
      codec::DecodeSimpleHistogram(Bytes(1, static_cast<char>(codec_id)) + body);
  if (!histogram.ok()) return Status::InvalidArgument(std::string(histogram.status().message()));
  return histogram;
}

}  // namespace hg::http
