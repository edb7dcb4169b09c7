#include "http/telnet/tag_words.h"

#include <algorithm>
#include <map>

#include "storage/model/java_hash.h"
#include "storage/model/name_text.h"

namespace hg::http {
namespace {

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

void OrderTags(std::vector<TagText>* tags) {
  std::vector<uint32_t> hashes;
  for (const TagText& tag : *tags) hashes.push_back(JavaHashUtf8(tag.key));
  std::vector<TagText> ordered;
  for (const size_t i : JavaMapOrder(hashes, Hash16Capacity(tags->size())))
    ordered.push_back((*tags)[i]);
  *tags = std::move(ordered);
}

std::string_view LineTexts::Text(std::string_view latin1) {
  const bool ascii =
      std::none_of(latin1.begin(), latin1.end(), [](char c) { return (c & 0x80) != 0; });
  return ascii ? latin1 : std::string_view(texts_.emplace_back(FromLatin1(latin1)));
}

std::string LineTexts::ParseTags(const std::vector<std::string_view>& words, size_t first,
                                 std::vector<TagText>* tags) {
  std::map<std::string_view, std::string_view> known;  // a map, because a line may have many tags
  for (size_t i = first; i < words.size(); ++i) {
    if (words[i].empty()) continue;
    const std::string_view tag = Text(words[i]);
    const size_t equals = tag.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == tag.size() ||
        tag.find('=', equals + 1) != std::string_view::npos) {
      return "illegal argument: invalid tag: " + std::string(tag);
    }
    const TagText parsed{tag.substr(0, equals), tag.substr(equals + 1)};
    const auto [place, is_new] = known.try_emplace(parsed.key, parsed.value);
    if (is_new) {
      tags->push_back(parsed);
    } else if (place->second != parsed.value) {
      return "illegal argument: duplicate tag: " + std::string(tag) + ", tags=" + MapText(*tags);
    }
  }
  OrderTags(tags);
  return {};
}

}  // namespace hg::http
