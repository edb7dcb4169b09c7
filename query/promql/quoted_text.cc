#include "query/promql/quoted_text.h"

#include <charconv>

#include "storage/model/utf8.h"

namespace hg::query::promql {
namespace {

constexpr std::string_view kPlainEscapes = "abfnrtv\\\"'";
constexpr std::string_view kPlainValues = "\a\b\f\n\r\t\v\\\"'";

/// Parses `digits` digits of a code point or byte. Returns false if there are fewer.
bool TakeCode(std::string_view* rest, size_t digits, int base, uint32_t* code) {
  if (rest->size() < digits) return false;
  const auto [end, error] = std::from_chars(rest->data(), rest->data() + digits, *code, base);
  if (error != std::errc() || end != rest->data() + digits) return false;
  rest->remove_prefix(digits);
  return true;
}

/// Parses the part of an escape after the backslash. Returns false if it is not an escape.
bool TakeEscape(std::string_view* rest, char quote, std::string* value) {
  if (rest->empty()) return false;
  const char c = rest->front();
  if (const size_t plain = kPlainEscapes.find(c); plain != std::string_view::npos) {
    // The other quote character needs no escape, and Go does not allow one.
    if ((c == '"' || c == '\'') && c != quote) return false;
    value->push_back(kPlainValues[plain]);
    rest->remove_prefix(1);
    return true;
  }
  uint32_t code = 0;
  if (c >= '0' && c <= '7') {
    if (!TakeCode(rest, 3, 8, &code) || code > 0xFF) return false;
    value->push_back(static_cast<char>(code));
    return true;
  }
  rest->remove_prefix(1);
  if (c == 'x') {
    if (!TakeCode(rest, 2, 16, &code)) return false;
    value->push_back(static_cast<char>(code));
    return true;
  }
  if ((c != 'u' && c != 'U') || !TakeCode(rest, c == 'u' ? 4 : 8, 16, &code)) return false;
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  AppendCodePoint(value, code);
  return true;
}

}  // namespace

Status TakeQuotedText(std::string_view* rest, std::string* value) {
  const Status endless = Status::NotFound("the quoted text has no end");
  const char quote = rest->front();
  rest->remove_prefix(1);
  while (!rest->empty() && rest->front() != quote) {
    const char c = rest->front();
    if (c == '\n' && quote != '`') return endless;
    if (c == '\\' && quote != '`') {
      std::string_view behind = rest->substr(1);
      if (!TakeEscape(&behind, quote, value))
        return Status::InvalidArgument("unknown escape sequence");
      *rest = behind;
      continue;
    }
    value->push_back(c);
    rest->remove_prefix(1);
  }
  if (rest->empty()) return endless;
  rest->remove_prefix(1);
  if (!IsUtf8(*value)) return Status::InvalidArgument("the quoted text is not UTF-8");
  return {};
}

}  // namespace hg::query::promql
