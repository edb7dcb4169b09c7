#include "storage/model/name_text.h"

#include <algorithm>
#include <iterator>

#include "storage/model/unicode_letters.h"
#include "storage/model/utf8.h"

namespace hg {
namespace {

constexpr std::string_view kPlainPunctuation = "-_./";

}  // namespace

NameRules::NameRules(std::string_view extra) {
  for (int c = 0; c < 128; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    ascii_[static_cast<size_t>(c)] = letter || (c >= '0' && c <= '9');
  }
  for (char c : kPlainPunctuation) ascii_.set(static_cast<size_t>(c));
  bool valid = true;
  while (!extra.empty()) {
    const char32_t c = TakeCodePoint(&extra, &valid);
    if (c < 128) {
      ascii_.set(c);
    } else {
      extra_.push_back(c);
    }
  }
  std::sort(extra_.begin(), extra_.end());
}

bool NameRules::IsLegal(char32_t c) const {
  if (c < ascii_.size()) return ascii_[c];
  return IsUnicodeLetter(c) || std::binary_search(extra_.begin(), extra_.end(), c);
}

Status NameRules::Check(std::string_view what, std::string_view name) const {
  if (name.empty())
    return Status::InvalidArgument("Invalid " + std::string(what) + ": empty string");
  std::string_view rest = name;
  while (!rest.empty()) {
    const auto first = static_cast<uint8_t>(rest[0]);
    if (first < 128 && ascii_[first]) {
      rest.remove_prefix(1);
      continue;
    }
    bool valid = true;
    const char32_t c = TakeCodePoint(&rest, &valid);
    if (valid && IsLegal(c)) continue;
    std::string message =
        "Invalid " + std::string(what) + " (\"" + std::string(name) + "\"): illegal character: ";
    // Java works on UTF-16 units. For a surrogate pair, OpenTSDB's message contains only the first
    // half, encoded as three bytes.
    AppendCodePoint(&message, c > 0xFFFF ? 0xD800 + ((c - 0x10000) >> 10) : c);
    return Status::InvalidArgument(std::move(message));
  }
  return Status::Ok();
}

bool IsUnicodeLetter(char32_t c) {
  if (c < 128) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (c > 0xFFFF) return false;
  const auto* const range =
      std::lower_bound(std::begin(internal::kLetterRanges), std::end(internal::kLetterRanges), c,
                       [](const internal::LetterRange& r, char32_t v) { return r.last < v; });
  return range != std::end(internal::kLetterRanges) && range->first <= c;
}

Bytes ToLatin1(std::string_view utf8) {
  Bytes out;
  out.reserve(utf8.size());
  bool valid = true;
  while (!utf8.empty()) {
    const char32_t c = TakeCodePoint(&utf8, &valid);
    out.push_back(c <= 0xFF ? static_cast<char>(c) : '?');
  }
  return out;
}

bool FitsLatin1(std::string_view utf8) {
  bool valid = true;
  while (!utf8.empty()) {
    if (TakeCodePoint(&utf8, &valid) > 0xFF) return false;
  }
  return true;
}

std::string FromLatin1(ByteView latin1) {
  std::string out;
  out.reserve(latin1.size());
  for (char c : latin1) AppendCodePoint(&out, static_cast<uint8_t>(c));
  return out;
}

}  // namespace hg
