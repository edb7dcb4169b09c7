#include "tsd/tools/cell_text.h"

#include <ctime>

#include "storage/model/java_hash.h"

namespace hg::tsd {

std::string ByteListText(ByteView bytes) {
  std::string out = "[";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(static_cast<int8_t>(bytes[i]));
  }
  return out + "]";
}

std::string DateText(int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[64];
  // The names of days and months are those of the C locale, because the program sets no locale.
  return {text, std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Z %Y", &local)};
}

void SortAsPrinted(TagNames* tags) {
  std::vector<uint32_t> hashes;
  for (const auto& [key, value] : *tags) hashes.push_back(JavaHashUtf8(key));
  TagNames sorted;
  for (size_t i : JavaMapOrder(hashes, HashNCapacity(tags->size())))
    sorted.push_back(std::move((*tags)[i]));
  *tags = std::move(sorted);
}

std::string TagMapText(const TagNames& tags) {
  std::string out = "{";
  for (size_t i = 0; i < tags.size(); ++i) {
    if (i > 0) out += ", ";
    out += tags[i].first + "=" + tags[i].second;
  }
  return out + "}";
}

}  // namespace hg::tsd
