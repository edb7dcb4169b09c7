#include "query/time/time_text.h"

#include <charconv>
#include <optional>
#include <string>

#include "query/time/duration.h"
#include "storage/base/hex_digit.h"

namespace hg::query {
namespace {

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

bool AllDigits(std::string_view text) {
  for (char c : text) {
    if (!IsDigit(c)) return false;
  }
  return !text.empty();
}

std::optional<int64_t> ParseInt(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int64_t value;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Maximum number of digits in a field of a date. Longer years would not fit milliseconds.
constexpr size_t kDateDigitsMax = 8;

// Reads a number with up to kDateDigitsMax digits and an optional sign, like Java's
// SimpleDateFormat. Returns false if the text does not begin with a number.
bool TakeNumber(std::string_view* text, int64_t* out) {
  size_t n = 0;
  bool negative = !text->empty() && text->front() == '-';
  size_t begin = negative ? 1 : 0;
  while (begin + n < text->size() && IsDigit((*text)[begin + n])) ++n;
  if (n == 0 || n > kDateDigitsMax) return false;
  std::from_chars(text->data() + begin, text->data() + begin + n, *out);
  if (negative) *out = -*out;
  text->remove_prefix(begin + n);
  return true;
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

Result<int64_t> ParseDate(std::string_view text, const TimeZone& zone) {
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) {
    return Status::InvalidArgument("Invalid absolute date: " + std::string(text));
  }
  Status unparseable = Status::InvalidArgument("Invalid date: " + std::string(text) +
                                               ". Unparseable date: \"" + std::string(text) + "\"");
  std::string_view rest = text;
  int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!TakeNumber(&rest, &year) || !TakeChar(&rest, '/') || !TakeNumber(&rest, &month) ||
      !TakeChar(&rest, '/') || !TakeNumber(&rest, &day)) {
    return unparseable;
  }
  if (text.size() >= 16) {
    char between = text.find('-') != std::string_view::npos ? '-' : ' ';
    if (!TakeChar(&rest, between) || !TakeNumber(&rest, &hour) || !TakeChar(&rest, ':') ||
        !TakeNumber(&rest, &minute)) {
      return unparseable;
    }
  }
  if (text.size() == 19 && (!TakeChar(&rest, ':') || !TakeNumber(&rest, &second)))
    return unparseable;
  int64_t local =
      DaysFromCivil(year, month, day) * 86'400'000 + ((hour * 60 + minute) * 60 + second) * 1000;
  return zone.FromLocal(local);
}

}  // namespace

Result<int64_t> ParseTime(std::string_view text, int64_t now_ms, const TimeZone& zone) {
  if (text.empty()) return Status::InvalidArgument("Invalid time: the text is empty");
  if (text.size() > 2 && text.ends_with("ms") && AllDigits(text.substr(0, text.size() - 2))) {
    if (auto ms = ParseInt(text.substr(0, text.size() - 2))) return *ms;
    return Status::InvalidArgument("Invalid time: " + std::string(text));
  }
  if (EqualsIgnoringCase(text, "now")) return now_ms;
  if (text.size() >= 4 && EqualsIgnoringCase(text.substr(text.size() - 4), "-ago")) {
    ASSIGN_OR_RETURN(Duration back, ParseDuration(text.substr(0, text.size() - 4)));
    return now_ms - back.millis();
  }
  if (text.find('/') != std::string_view::npos || text.find(':') != std::string_view::npos) {
    return ParseDate(text, zone);
  }
  // In "1500000000.123", the dot is ignored, and the digits are read as one number (quirk Q2).
  if (text.size() >= 12 && text.size() <= 14 && text[10] == '.' && AllDigits(text.substr(0, 10)) &&
      AllDigits(text.substr(11))) {
    return *ParseInt(std::string(text.substr(0, 10)) + std::string(text.substr(11)));
  }
  std::optional<int64_t> value = ParseInt(text);
  if (!value) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (IsDigit(text[i])) continue;
      size_t n = 1;  // the length of the whole UTF-8 character
      while (i + n < text.size() && (static_cast<unsigned char>(text[i + n]) & 0xC0) == 0x80) ++n;
      return Status::InvalidArgument("Invalid time: " + std::string(text) +
                                     ". Invalid character '" + std::string(text.substr(i, n)) +
                                     "' in " + std::string(text));
    }
    return Status::InvalidArgument("Invalid time: " + std::string(text) + " is too large");
  }
  if (*value < 0) return Status::InvalidArgument("Negative timestamps are not supported.");
  return text.size() <= 10 ? *value * 1000 : *value;
}

}  // namespace hg::query
