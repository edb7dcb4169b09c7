#include "storage/region/pre_split.h"

#include <algorithm>

namespace hg::region {

Result<std::vector<lsm::RegionEntry>> PreSplit(std::vector<lsm::RegionEntry> regions,
                                               const std::vector<Bytes>& keys, size_t key_width) {
  std::vector<Bytes> starts;
  for (const Bytes& key : keys) {
    if (key.empty()) return Status::InvalidArgument("a split key is empty");
    starts.push_back(key.substr(0, key_width));
  }
  std::sort(starts.begin(), starts.end());
  const auto twice = std::adjacent_find(starts.begin(), starts.end());
  if (twice != starts.end()) {
    return Status::InvalidArgument("split key given twice: " + KeyText(*twice));
  }
  const auto by_start = [](const lsm::RegionEntry& a, const lsm::RegionEntry& b) {
    return a.start < b.start;
  };
  for (const Bytes& start : starts) {
    const lsm::RegionEntry region{0, start};
    if (!std::binary_search(regions.begin(), regions.end(), region, by_start)) {
      regions.insert(std::upper_bound(regions.begin(), regions.end(), region, by_start), region);
    }
  }
  return regions;
}

std::vector<Bytes> UniformSplits(uint32_t n) {
  std::vector<Bytes> keys;
  // 2^64 ÷ n. With one region no key is computed.
  const uint64_t step = n > 1 ? UINT64_MAX / n + (UINT64_MAX % n + 1 == n ? 1 : 0) : 0;
  for (uint32_t i = 1; i < n; ++i) AppendBig(&keys.emplace_back(), i * step, 8);
  return keys;
}

std::vector<Bytes> HexSplits(uint32_t n) {
  std::vector<Bytes> keys;
  for (uint32_t i = 1; i < n; ++i) {
    Bytes key;
    AppendBig(&key, i * ((uint64_t{1} << 32) / n), 4);
    keys.push_back(ToHex(key));
  }
  return keys;
}

Result<Bytes> ParseKey(std::string_view text) {
  Bytes key;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      key.push_back(text[at]);
      continue;
    }
    Bytes byte;
    if (text.substr(at + 1, 1) == "\\") {
      key.push_back('\\');
      ++at;
    } else if (text.substr(at + 1, 1) == "x" && text.size() >= at + 4 &&
               FromHex(text.substr(at + 2, 2), &byte)) {
      key += byte;
      at += 3;
    } else {
      return Status::InvalidArgument("the key \"" + std::string(text) +
                                     "\" has an invalid escape: a backslash must be followed by x "
                                     "and two hexadecimal digits, or by another backslash");
    }
  }
  return key;
}

std::string KeyText(ByteView key) {
  std::string text;
  for (const char c : key) {
    if (c == '\\') {
      text += "\\\\";
    } else if (c >= ' ' && c <= '~') {
      text.push_back(c);
    } else {
      text += "\\x" + ToHexUpper({&c, 1});
    }
  }
  return text;
}

Result<std::vector<Bytes>> ParseKeyLines(std::string_view text) {
  std::vector<Bytes> keys;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    ASSIGN_OR_RETURN(keys.emplace_back(), ParseKey(line));
  }
  return keys;
}

}  // namespace hg::region
