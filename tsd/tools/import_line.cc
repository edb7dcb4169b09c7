#include "tsd/tools/import_line.h"

#include <algorithm>

#include "storage/model/java_hash.h"
#include "storage/model/number_text.h"

namespace hg::tsd {
namespace {

void OrderTags(std::vector<TagText>* tags) {
  std::vector<uint32_t> hashes;
  for (const TagText& tag : *tags) hashes.push_back(JavaHashUtf8(tag.key));
  std::vector<TagText> ordered;
  for (size_t i : JavaMapOrder(hashes, Hash16Capacity(tags->size()))) ordered.push_back((*tags)[i]);
  *tags = std::move(ordered);
}

}  // namespace

Result<ImportLine> ParseImportLine(std::string_view line) {
  std::string_view rest = line;
  bool more = true;  // a blank followed the last word
  const auto word = [&rest, &more] {
    const size_t blank = rest.find(' ');
    const std::string_view taken = rest.substr(0, blank);
    more = blank != std::string_view::npos;
    rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
    return taken;
  };
  ImportLine parts;
  parts.metric = word();
  const std::string_view time = word();
  const bool has_value = more;
  parts.value = word();
  parts.tags = rest;
  if (parts.metric.empty())
    return Status::InvalidArgument("a line must begin with a metric: \"" + std::string(line) +
                                   "\"");
  NumberError error;
  if (!ParseLong(time, &parts.time.raw, &error))
    return Status::InvalidArgument("invalid time: " + error.message);
  if (parts.time.raw <= 0) return Status::InvalidArgument("invalid time: " + std::string(time));
  if (!has_value)
    return Status::Corruption("the line ends before its value: \"" + std::string(line) + "\"");
  if (parts.value.empty())
    return Status::InvalidArgument("no value in \"" + std::string(line) + "\"");
  return parts;
}

Result<std::vector<TagText>> ParseImportTags(std::string_view text) {
  std::vector<TagText> tags;
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
    if (word.empty()) continue;
    const size_t equal = word.find('=');
    if (equal == std::string_view::npos || equal == 0 || equal + 1 == word.size() ||
        word.find('=', equal + 1) != std::string_view::npos)
      return Status::InvalidArgument("invalid tag: " + std::string(word));
    const TagText tag{word.substr(0, equal), word.substr(equal + 1)};
    const auto same = std::find_if(tags.begin(), tags.end(),
                                   [&tag](const TagText& t) { return t.key == tag.key; });
    if (same == tags.end()) {
      tags.push_back(tag);
    } else if (same->value != tag.value) {
      return Status::InvalidArgument("duplicate tag: " + std::string(word) + ", there is " +
                                     std::string(same->value) + " already");
    }
  }
  OrderTags(&tags);
  return tags;
}

std::string ImportLineText(std::string_view metric, int64_t time, const PointValue& value,
                           std::string_view tags) {
  std::string line(metric);
  line.append(" ").append(std::to_string(time)).append(" ");
  if (value.is_float()) {
    AppendJavaDouble(&line, value.as_double());
  } else {
    line.append(std::to_string(value.as_int()));
  }
  return line.append(tags).append("\n");
}

}  // namespace hg::tsd
