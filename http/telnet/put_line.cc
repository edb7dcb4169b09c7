#include "http/telnet/put_line.h"

#include "http/wire/telnet_line.h"
#include "storage/model/name_text.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

constexpr size_t kFirstTag = 4;

}  // namespace

std::string PutLines::Add(std::string_view line, const std::vector<std::string_view>& words) {
  if (words.size() <= kFirstTag) {
    return "illegal argument: not enough arguments (need least 4, got " +
           std::to_string(words.size() - 1) + ")";
  }
  NamedPoint point;
  point.metric = texts_.Text(words[1]);
  if (point.metric.empty()) return "illegal argument: empty metric name";
  NumberError error;
  if (!ParseTelnetTime(words[2], &point.time.raw, &error))
    return "invalid value: " + FromLatin1(error.message);
  if (point.time.raw <= 0)
    return "illegal argument: invalid timestamp: " + std::to_string(point.time.raw);
  if (words[3].empty()) return "illegal argument: empty value";
  std::vector<TagText> tags;
  if (std::string fault = texts_.ParseTags(words, kFirstTag, &tags); !fault.empty()) return fault;
  if (!ParseValue(words[3], EntryPath::kTelnet, &point.value, &error)) {
    if (error.fault != NumberFault::kNotFinite)
      return "invalid value: " + FromLatin1(error.message);
    return "illegal argument: value is NaN or Infinite: " + error.message +
           " for metric=" + std::string(point.metric) +
           " timestamp=" + std::to_string(point.time.raw);
  }
  PutWords raw;
  if (SplitPut(line, &raw)) point.raw_key = {Dialect::kWords, raw.metric, raw.tags};
  point.tags = tags_.emplace_back(std::move(tags));
  points_.push_back(point);
  return {};
}

void PutLines::Clear() {
  points_.clear();
  tags_.clear();
  texts_.Clear();
}

}  // namespace hg::http
