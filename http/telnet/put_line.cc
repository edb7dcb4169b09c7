#include "http/telnet/put_line.h"

#include <algorithm>

#include "http/wire/telnet_line.h"
#include "storage/model/java_hash.h"
#include "storage/model/name_text.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

constexpr size_t kFirstTag = 4;

/// Puts the tags in the order of OpenTSDB's map.
void OrderTags(std::vector<TagText>* tags) {
  std::vector<uint32_t> hashes;
  for (const TagText& tag : *tags) hashes.push_back(JavaHashUtf8(tag.key));
  std::vector<TagText> ordered;
  for (const size_t i : JavaMapOrder(hashes, Hash16Capacity(tags->size())))
    ordered.push_back((*tags)[i]);
  *tags = std::move(ordered);
}

std::string MapText(std::vector<TagText> tags) {
  OrderTags(&tags);
  std::string text = "{";
  for (const TagText& tag : tags) {
    if (text.size() > 1) text += ", ";
    text.append(tag.key).append("=").append(tag.value);
  }
  return text + "}";
}

}  // namespace

std::string_view PutLines::Text(std::string_view latin1) {
  const bool ascii =
      std::none_of(latin1.begin(), latin1.end(), [](char c) { return (c & 0x80) != 0; });
  return ascii ? latin1 : std::string_view(texts_.emplace_back(FromLatin1(latin1)));
}

std::string PutLines::ParseTags(const std::vector<std::string_view>& words,
                                std::vector<TagText>* tags) {
  for (size_t i = kFirstTag; i < words.size(); ++i) {
    if (words[i].empty()) continue;
    const std::string_view tag = Text(words[i]);
    const size_t equals = tag.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == tag.size() ||
        tag.find('=', equals + 1) != std::string_view::npos) {
      return "illegal argument: invalid tag: " + std::string(tag);
    }
    const TagText parsed{tag.substr(0, equals), tag.substr(equals + 1)};
    const auto known = std::find_if(tags->begin(), tags->end(),
                                    [&](const TagText& t) { return t.key == parsed.key; });
    if (known == tags->end()) {
      tags->push_back(parsed);
    } else if (known->value != parsed.value) {
      return "illegal argument: duplicate tag: " + std::string(tag) + ", tags=" + MapText(*tags);
    }
  }
  OrderTags(tags);
  return {};
}

std::string PutLines::Add(std::string_view line, const std::vector<std::string_view>& words) {
  if (words.size() <= kFirstTag) {
    return "illegal argument: not enough arguments (need least 4, got " +
           std::to_string(words.size() - 1) + ")";
  }
  NamedPoint point;
  point.metric = Text(words[1]);
  if (point.metric.empty()) return "illegal argument: empty metric name";
  NumberError error;
  if (!ParseTelnetTime(words[2], &point.time.raw, &error))
    return "invalid value: " + FromLatin1(error.message);
  if (point.time.raw <= 0)
    return "illegal argument: invalid timestamp: " + std::to_string(point.time.raw);
  if (words[3].empty()) return "illegal argument: empty value";
  std::vector<TagText> tags;
  if (std::string fault = ParseTags(words, &tags); !fault.empty()) return fault;
  if (!ParseValue(words[3], EntryPath::kTelnet, &point.value, &error)) {
    if (error.fault != NumberFault::kNotFinite)
      return "invalid value: " + FromLatin1(error.message);
    return "illegal argument: value is NaN or Infinite: " + error.message +
           " for metric=" + std::string(point.metric) +
           " timestamp=" + std::to_string(point.time.raw);
  }
  PutWords raw;
  if (SplitPut(line, &raw)) point.spelling = {Dialect::kWords, raw.metric, raw.tags};
  point.tags = tags_.emplace_back(std::move(tags));
  points_.push_back(point);
  return {};
}

void PutLines::Clear() {
  points_.clear();
  tags_.clear();
  texts_.clear();
}

}  // namespace hg::http
