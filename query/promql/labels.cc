#include "query/promql/labels.h"

#include <algorithm>

namespace hg::query::promql {
namespace {

bool Before(const Labels::Pair& pair, std::string_view name) { return pair.first < name; }

bool IsAmong(std::span<const std::string> names, const std::string& name) {
  return std::binary_search(names.begin(), names.end(), name);
}

}  // namespace

Labels::Labels(std::vector<Pair> pairs) {
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.first < b.first; });
  pairs_.reserve(pairs.size());
  for (Pair& pair : pairs) {
    if (!pairs_.empty() && pairs_.back().first == pair.first) pairs_.pop_back();
    pairs_.push_back(std::move(pair));
  }
  std::erase_if(pairs_, [](const Pair& pair) { return pair.second.empty(); });
}

std::string_view Labels::Get(std::string_view name) const {
  const auto it = std::lower_bound(pairs_.begin(), pairs_.end(), name, Before);
  if (it == pairs_.end() || it->first != name) return {};
  return it->second;
}

void Labels::Set(std::string_view name, std::string_view value) {
  const auto it = std::lower_bound(pairs_.begin(), pairs_.end(), name, Before);
  const bool there = it != pairs_.end() && it->first == name;
  if (value.empty()) {
    if (there) pairs_.erase(it);
  } else if (there) {
    it->second = value;
  } else {
    pairs_.emplace(it, name, value);
  }
}

void Labels::Remove(std::string_view name) { Set(name, ""); }

void Labels::RemoveName() {
  for (const std::string_view name : {kNameLabel, kTypeLabel, kUnitLabel}) Remove(name);
}

void Labels::Keep(std::span<const std::string> names) {
  std::erase_if(pairs_, [&](const Pair& pair) { return !IsAmong(names, pair.first); });
}

void Labels::Drop(std::span<const std::string> names) {
  std::erase_if(pairs_, [&](const Pair& pair) { return IsAmong(names, pair.first); });
}

size_t Labels::bytes() const {
  size_t bytes = sizeof(Labels) + pairs_.capacity() * sizeof(Pair);
  for (const auto& [name, value] : pairs_) bytes += name.capacity() + value.capacity();
  return bytes;
}

uint64_t Labels::steps() const {
  constexpr size_t kBytesPerStep = 64;
  size_t bytes = 0;
  for (const auto& [name, value] : pairs_) bytes += name.size() + value.size();
  return 4 + 4 * pairs_.size() + bytes / kBytesPerStep;
}

std::string Labels::Key() const {
  std::string key;
  for (const auto& [name, value] : pairs_) {
    // The byte FF does not occur in UTF-8 text, so it can separate names and values.
    key.append(name).push_back('\xFF');
    key.append(value).push_back('\xFF');
  }
  return key;
}

std::string Labels::Text() const {
  std::string text = "{";
  for (const auto& [name, value] : pairs_)
    text += (text.size() > 1 ? ", " : "") + name + "=" + Quoted(value);
  return text + "}";
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\\\"", kEscapes = "abfnrtv\\\"";
    constexpr std::string_view kDigits = "0123456789abcdef";
    constexpr unsigned char kBlank = 0x20, kDelete = 0x7F;
    const auto byte = static_cast<unsigned char>(c);
    if (const size_t escape = kEscaped.find(c); escape != std::string_view::npos) {
      out.push_back('\\');
      out.push_back(kEscapes[escape]);
    } else if (byte < kBlank || byte == kDelete) {
      out.append("\\x").push_back(kDigits[byte / 16]);
      out.push_back(kDigits[byte % 16]);
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

}  // namespace hg::query::promql
