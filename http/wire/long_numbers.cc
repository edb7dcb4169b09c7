#include "http/wire/long_numbers.h"

#include <algorithm>

#include "storage/base/hex_digit.h"

namespace hg::http {
namespace {

constexpr size_t kShort = 300;  // a number this long is in a double's range if it has no exponent

size_t Digits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

/// Returns true if `text` is exactly one JSON number.
bool IsNumber(std::string_view text) {
  size_t at = text.starts_with('-') ? 1 : 0;
  const size_t whole = Digits(text, at);
  if (whole == at || (text[at] == '0' && whole != at + 1)) return false;
  at = whole;
  if (at < text.size() && text[at] == '.') {
    const size_t end = Digits(text, at + 1);
    if (end == at + 1) return false;
    at = end;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const size_t end = Digits(text, at);
    if (end == at) return false;
    at = end;
  }
  return at == text.size();
}

bool IsLong(std::string_view number) {
  return number.size() > kShort || number.find_first_of("eE") != std::string_view::npos;
}

/// Returns the position after the string that begins at `at`.
size_t BehindString(std::string_view document, size_t at) {
  for (++at; at < document.size() && document[at] != '"'; ++at)
    if (document[at] == '\\') ++at;
  return std::min(at + 1, document.size());
}

}  // namespace

Result<HiddenNumbers> HideLongNumbers(std::string_view document, RequestMemory::Share* memory) {
  if (memory != nullptr && !memory->Take(document.size())) return memory->refusal();
  HiddenNumbers hidden{std::string(document), {}};
  size_t count = 0;
  for (size_t at = 0; at < document.size();) {
    if (document[at] == '"') {
      at = BehindString(document, at);
      continue;
    }
    if (!IsDigit(document[at]) && document[at] != '-') {
      ++at;
      continue;
    }
    const size_t end = std::min(document.find_first_not_of("0123456789+-.eE", at), document.size());
    const std::string_view text = document.substr(at, end - at);
    if (IsNumber(text)) {
      if (IsLong(text)) {
        auto& numbers = hidden.numbers;
        if (memory != nullptr && numbers.size() == numbers.capacity() &&
            !memory->Take((2 * numbers.size() + 1) * sizeof(numbers[0])))
          return memory->refusal();
        numbers.emplace_back(count, text);
        hidden.document.replace(at, text.size(), text.size(), ' ');
        hidden.document[at] = '0';
      }
      ++count;
    }
    at = end;
  }
  return hidden;
}

}  // namespace hg::http
