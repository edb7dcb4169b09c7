#include "tsd/ingest/plain_raw_key.h"

#include <algorithm>
#include <array>

#include "storage/model/java_hash.h"

namespace hg::tsd {
namespace {

constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (int c = '0'; c <= '9'; ++c) plain[static_cast<size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) plain[static_cast<size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) plain[static_cast<size_t>(c)] = true;
  for (const char c : {'-', '_', '.', '/'}) plain[static_cast<size_t>(c)] = true;
  return plain;
}();

/// Takes the longest plain name from the front.
std::string_view TakeName(std::string_view* rest) {
  size_t size = 0;
  while (size < rest->size() && kPlain[static_cast<uint8_t>((*rest)[size])]) ++size;
  const std::string_view name = rest->substr(0, size);
  rest->remove_prefix(size);
  return name;
}

bool Take(char c, std::string_view* rest) {
  if (rest->empty() || rest->front() != c) return false;
  rest->remove_prefix(1);
  return true;
}

void SkipBlanks(std::string_view* rest) {
  const size_t first = rest->find_first_not_of(" \t\r\n");
  rest->remove_prefix(std::min(first, rest->size()));
}

bool TakeQuoted(std::string_view* rest, std::string_view* name) {
  SkipBlanks(rest);
  if (!Take('"', rest)) return false;
  *name = TakeName(rest);
  if (name->empty() || !Take('"', rest)) return false;
  SkipBlanks(rest);
  return true;
}

bool ReadObject(std::string_view rest, size_t tags_max, std::vector<TagText>* tags) {
  if (!Take('{', &rest)) return false;
  do {
    if (tags->size() == tags_max) return false;
    TagText tag;
    if (!TakeQuoted(&rest, &tag.key) || !Take(':', &rest) || !TakeQuoted(&rest, &tag.value)) {
      return false;
    }
    tags->push_back(tag);
  } while (Take(',', &rest));
  return rest == "}";
}

bool ReadWords(std::string_view rest, size_t tags_max, std::vector<TagText>* tags) {
  do {
    if (tags->size() == tags_max) return false;
    TagText tag;
    tag.key = TakeName(&rest);
    if (tag.key.empty() || !Take('=', &rest)) return false;
    tag.value = TakeName(&rest);
    if (tag.value.empty()) return false;
    tags->push_back(tag);
  } while (Take(' ', &rest));
  return rest.empty();
}

/// Returns whether a key occurs twice. The number of tags is small.
bool KeyTwice(const std::vector<TagText>& tags) {
  for (auto it = tags.begin(); it != tags.end(); ++it) {
    if (std::any_of(tags.begin(), it, [it](const TagText& t) { return t.key == it->key; })) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool IsPlainName(std::string_view text) { return !TakeName(&text).empty() && text.empty(); }

bool ReadPlainTags(Dialect dialect, std::string_view text, size_t tags_max,
                   std::vector<TagText>* tags) {
  std::vector<TagText> read;
  const bool plain = dialect == Dialect::kJson ? ReadObject(text, tags_max, &read)
                                               : ReadWords(text, tags_max, &read);
  if (!plain || KeyTwice(read)) return false;
  std::vector<uint32_t> hashes;
  for (const TagText& tag : read) hashes.push_back(JavaHashUtf8(tag.key));
  tags->clear();
  for (const size_t i : JavaMapOrder(hashes, Hash16Capacity(read.size()))) tags->push_back(read[i]);
  return true;
}

}  // namespace hg::tsd
