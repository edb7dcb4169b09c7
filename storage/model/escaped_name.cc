#include "storage/model/escaped_name.h"

#include <algorithm>

#include "storage/model/utf8.h"

namespace hg {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";
/// Number of hexadecimal digits of an escape.
constexpr size_t kShortEscape = 4, kLongEscape = 8;

void AppendEscape(char32_t c, std::string* out) {
  *out += "_x";
  const size_t digits = c > 0xFFFF ? kLongEscape : kShortEscape;
  for (size_t i = digits; i-- > 0;) *out += kHexDigits[c >> 4 * i & 0xF];
  *out += '_';
}

/// Returns whether the text begins like an escape. The '_' at its end may come from a following
/// escape.
bool BeginsAsEscape(std::string_view text) {
  return text.starts_with("_x") &&
         std::min(text.find_first_not_of(kHexDigits, 2), text.size()) - 2 >= kShortEscape;
}

/// Returns whether AppendEscapedName may escape the character if `rest` follows it.
bool IsEscaped(char32_t c, std::string_view rest) {
  if (c > 0xFF) return true;
  if (c == '_') return BeginsAsEscape("_" + std::string(rest.substr(0, 1 + kShortEscape)));
  static const NameRules fewest;  // the default characters; settings can only allow more
  return !fewest.IsLegal(c);
}

/// Takes an escaped character from the front. Returns false if there is none.
bool TakeEscape(std::string_view* rest, char32_t* c) {
  if (!rest->starts_with("_x")) return false;
  const size_t end = rest->find_first_not_of(kHexDigits, 2);
  if (end == std::string_view::npos || (*rest)[end] != '_') return false;
  if (end != 2 + kShortEscape && end != 2 + kLongEscape) return false;
  *c = 0;
  for (const char digit : rest->substr(2, end - 2))
    *c = *c << 4 | static_cast<char32_t>(kHexDigits.find(digit));
  if (*c > 0x10FFFF || (*c >= 0xD800 && *c <= 0xDFFF)) return false;
  if ((*c > 0xFFFF) != (end == 2 + kLongEscape)) return false;
  if (!IsEscaped(*c, rest->substr(end + 1))) return false;
  rest->remove_prefix(end + 1);
  return true;
}

}  // namespace

bool AppendEscapedName(std::string_view utf8, const NameRules& rules, std::string* out) {
  bool valid = true;
  while (!utf8.empty()) {
    const std::string_view rest = utf8;
    const char32_t c = TakeCodePoint(&utf8, &valid);
    if (!valid) return false;
    const std::string_view character = rest.substr(0, rest.size() - utf8.size());
    if (c > 0xFF || BeginsAsEscape(rest) || !rules.IsLegal(c)) {
      AppendEscape(c, out);
    } else {
      out->append(character);
    }
  }
  return true;
}

std::string UnescapedName(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  while (!name.empty()) {
    char32_t c = 0;
    if (TakeEscape(&name, &c)) {
      AppendCodePoint(&out, c);
    } else {
      out.push_back(name.front());
      name.remove_prefix(1);
    }
  }
  return out;
}

std::string MarkedName(std::string_view name) {
  bool valid = true;
  std::string marked;
  AppendEscape(TakeCodePoint(&name, &valid), &marked);
  return marked.append(name);
}

}  // namespace hg
