#include "storage/base/number_text.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace hg {
namespace {

// Positional layout is used for 10^-3 <= |x| < 10^7.
constexpr int kPositionalExponentMin = -3;
constexpr int kPositionalExponentMax = 6;

// digits = d1 d2 … dn, value = d1.d2…dn * 10^exponent.
void LayOut(std::string_view digits, int exponent, std::string* out) {
  if (exponent < kPositionalExponentMin || exponent > kPositionalExponentMax) {
    out->push_back(digits[0]);
    out->push_back('.');
    if (digits.size() > 1) {
      out->append(digits.substr(1));
    } else {
      out->push_back('0');
    }
    out->push_back('E');
    char text[8];
    auto end = std::to_chars(text, text + sizeof(text), exponent).ptr;
    out->append(text, end);
    return;
  }
  if (exponent < 0) {
    out->append("0.");
    out->append(static_cast<size_t>(-exponent - 1), '0');
    out->append(digits);
    return;
  }
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    out->append(digits);
    out->append(whole - digits.size(), '0');
    out->append(".0");
    return;
  }
  out->append(digits.substr(0, whole));
  out->push_back('.');
  out->append(digits.substr(whole));
}

template <typename T>
void AppendText(T value, std::string* out) {
  if (std::isnan(value)) {
    out->append("NaN");
    return;
  }
  if (std::signbit(value)) {
    out->push_back('-');
    value = -value;
  }
  if (std::isinf(value)) {
    out->append("Infinity");
    return;
  }
  if (value == 0) {
    out->append("0.0");
    return;
  }
  char text[32];  // "1.7976931348623157e+308"
  const char* end =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific).ptr;
  const std::string_view scientific(text, static_cast<size_t>(end - text));
  const size_t e = scientific.find('e');
  char digits[24];
  size_t count = 0;
  for (char c : scientific.substr(0, e))
    if (c != '.') digits[count++] = c;
  int exponent = 0;
  const char* from = text + e + 1;
  if (*from == '+') ++from;
  std::from_chars(from, end, exponent);
  LayOut({digits, count}, exponent, out);
}

}  // namespace

void AppendDoubleText(double value, std::string* out) { AppendText(value, out); }
void AppendFloatText(float value, std::string* out) { AppendText(value, out); }

}  // namespace hg
