#include "query/promql/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "storage/model/letter_case.h"

namespace hg::query::promql {
namespace {

bool AppendSpecial(double value, std::string* out) {
  if (std::isnan(value)) {
    out->append("NaN");
  } else if (std::isinf(value)) {
    out->append(value > 0 ? "+Inf" : "-Inf");
  } else {
    return false;
  }
  return true;
}

/// Returns a text such as "1.25e-07". It has the fewest digits from which a parser reads the same
/// double.
std::string ScientificText(double value) {
  char text[32];
  const auto [end, error] =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific);
  return {text, end};
}

/// Returns the digits of ScientificText with zeros instead of an exponent. std::to_chars would
/// print all digits of a large double.
std::string WithoutExponent(double value) {
  const std::string text = ScientificText(std::abs(value));
  const size_t e = text.find('e');
  std::string digits = text.substr(0, e);
  std::erase(digits, '.');
  int exponent = 0;
  const char* const from = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(from, text.data() + text.size(), exponent);
  if (exponent < 0) {
    digits.insert(0, static_cast<size_t>(-exponent), '0');
    exponent = 0;
  }
  const auto whole = static_cast<size_t>(exponent) + 1;  // digits before the decimal point
  if (digits.size() <= whole) {
    digits.append(whole - digits.size(), '0');
  } else {
    digits.insert(whole, 1, '.');
  }
  return (std::signbit(value) ? "-" : "") + digits;
}

/// Numbers whose size is in [fixed_from, fixed_below) are printed without an exponent.
void AppendText(double value, double fixed_from, double fixed_below, std::string* out) {
  // For values below this, std::to_chars in fixed format prints only the necessary digits.
  constexpr double kWholeBelow = 1e15;
  constexpr size_t kBytesMax = 32;
  if (AppendSpecial(value, out)) return;
  const double size = std::abs(value);
  if (size >= kWholeBelow && size < fixed_below) {
    out->append(WithoutExponent(value));
    return;
  }
  const bool fixed = size == 0 || (size >= fixed_from && size < fixed_below);
  const size_t at = out->size();
  out->resize(at + kBytesMax);
  char* const text = out->data() + at;
  const auto end = std::to_chars(text, text + kBytesMax, value,
                                 fixed ? std::chars_format::fixed : std::chars_format::scientific);
  out->resize(at + static_cast<size_t>(end.ptr - text));
}

bool TakePrefix(std::string_view* text, std::string_view lower) {
  if (text->size() < lower.size() || LowerCase(text->substr(0, lower.size())) != lower)
    return false;
  text->remove_prefix(lower.size());
  return true;
}

}  // namespace

std::optional<double> ParseFloat(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.front() == '-' || text.front() == '+') return {};
  double value = 0;
  std::string_view word = text;
  if (TakePrefix(&word, "inf") && (word.empty() || LowerCase(word) == "inity")) {
    value = std::numeric_limits<double>::infinity();
  } else if (LowerCase(text) == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    word = text;
    const bool hex = TakePrefix(&word, "0x");
    // Go requires an exponent in hexadecimal numbers.
    if (hex && word.find_first_of("pP") == std::string_view::npos) return {};
    // from_chars accepts words that Go does not accept, such as "nan(…)".
    if (word.empty() || word.front() == 'n' || word.front() == 'N' || word.front() == 'i' ||
        word.front() == 'I')
      return {};
    const auto [end, error] =
        std::from_chars(word.data(), word.data() + word.size(), value,
                        hex ? std::chars_format::hex : std::chars_format::general);
    if (end != word.data() + word.size()) return {};
    if (error == std::errc::result_out_of_range) {
      // Numbers that are too small become 0 or the nearest double. Numbers that are too large are
      // refused.
      value = std::strtod(std::string(text).c_str(), nullptr);
      if (std::isinf(value)) return {};
    } else if (error != std::errc()) {
      return {};
    }
  }
  return negative ? -value : value;
}

std::optional<double> ParseLiteral(std::string_view literal) {
  std::string text(literal);
  // An underscore may divide digits.
  std::erase(text, '_');
  std::string_view digits = text;
  int base = 10;
  if (TakePrefix(&digits, "0x")) {
    base = 16;
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
  }
  int64_t integer = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), integer, base);
  if (error == std::errc() && end == digits.data() + digits.size() && !digits.starts_with('-'))
    return static_cast<double>(integer);
  return ParseFloat(text);
}

std::string FixedText(double value) {
  std::string out;
  return AppendSpecial(value, &out) ? out : WithoutExponent(value);
}

void AppendAnswerText(double value, std::string* out) {
  constexpr double kFixedFrom = 1e-6, kFixedBelow = 1e21;
  AppendText(value, kFixedFrom, kFixedBelow, out);
}

void AppendScrapedText(double value, std::string* out) {
  constexpr double kFixedFrom = 1e-4, kFixedBelow = 1e6;
  AppendText(value == 0 ? 0 : value, kFixedFrom, kFixedBelow, out);
}

}  // namespace hg::query::promql
