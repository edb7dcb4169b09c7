#include "http/wire/influx_lines.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "http/wire/plain_number.h"
#include "storage/base/hex_digit.h"

namespace hg::http {
namespace {

/// The part of a body that is not read yet.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  [[nodiscard]] bool done() const { return at_ == end_; }
  [[nodiscard]] bool Is(char c) const { return at_ != end_ && *at_ == c; }
  bool Skip(char c) {
    if (!Is(c)) return false;
    ++at_;
    return true;
  }
  void SkipBlanks() {
    while (Is(' ')) ++at_;
  }
  void SkipLine() {
    const void* const lf = std::memchr(at_, '\n', left());
    at_ = lf == nullptr ? end_ : static_cast<const char*>(lf);
  }

  /// Takes the text before the first blank. Returns false if it is empty or if there is no
  /// unescaped blank.
  bool TakeSeries(std::string_view* series) {
    const void* const found = std::memchr(at_, ' ', left());
    if (found == nullptr || found == at_) return false;
    const char* const blank = static_cast<const char*>(found);
    if (blank[-1] == '\\') return false;
    *series = {at_, static_cast<size_t>(blank - at_)};
    at_ = blank;
    return true;
  }

  /// Takes a field's name and its '='. `guess`: the likely name; "" = unknown.
  bool TakeName(std::string_view guess, std::string_view* name) {
    if (!guess.empty() && left() > guess.size() && at_[guess.size()] == '=' &&
        std::memcmp(at_, guess.data(), guess.size()) == 0) {
      *name = {at_, guess.size()};
      at_ += guess.size() + 1;
      return true;
    }
    const char* p = at_;
    while (p != end_ && *p != '=' && *p != ',' && *p != ' ' && *p != '\\' && *p != '\n') ++p;
    if (p == at_ || p == end_ || *p != '=') return false;
    *name = {at_, static_cast<size_t>(p - at_)};
    at_ = p + 1;
    return true;
  }

  /// Skips a quoted text without escapes. Returns false if more than the text belongs to the value.
  bool SkipText() {
    const char* const begin = at_ + 1;
    const auto* const quote = static_cast<const char*>(std::memchr(begin, '"', left() - 1));
    if (quote == nullptr) return false;
    if (std::memchr(begin, '\\', static_cast<size_t>(quote - begin)) != nullptr) return false;
    at_ = quote + 1;
    return AtTokenEnd();
  }

  bool TakeValue(PointValue* value) {
    if (done()) return false;
    if (*at_ != '-' && *at_ != '.' && !IsDigit(*at_)) {
      bool truth = false;
      if (!ParseInfluxBool(TakeToken(), &truth)) return false;
      *value = PointValue::Int(truth ? 1 : 0);
      return true;
    }
    const char* const begin = at_;
    const bool negative = Skip('-');
    uint64_t digits = 0;
    const char* const integer = at_;
    TakeDigits(&digits);
    auto count = at_ - integer;
    if (Is('i') || Is('u')) {
      constexpr int kSafeDigits = 18;
      if (count == 0 || count > kSafeDigits || (negative && *at_ == 'u')) return false;
      ++at_;
      const auto n = static_cast<int64_t>(digits);
      *value = PointValue::Int(negative ? -n : n);
      return AtTokenEnd();
    }
    const char* const fraction = Skip('.') ? at_ : nullptr;
    if (fraction != nullptr) TakeDigits(&digits);
    const auto decimals = fraction == nullptr ? 0 : at_ - fraction;
    count += decimals;
    if (count == 0) return false;
    if (AtTokenEnd() && count <= kExactDigits) {
      // Digits and power are exact as doubles, so their quotient is the nearest double.
      const double d = static_cast<double>(digits) / kPowersOfTen[decimals];
      *value = PointValue::Double(negative ? -d : d);
      return true;
    }
    at_ = begin;
    const std::string_view token = TakeToken();
    double d = 0;
    const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), d);
    *value = PointValue::Double(d);
    return error == std::errc() && stop == token.data() + token.size() && std::isfinite(d);
  }

  bool TakeTime(InfluxUnit unit, Timestamp* time) {
    constexpr int kSafeDigits = 19;
    const char* const begin = at_;
    uint64_t n = 0;
    TakeDigits(&n);
    if (at_ == begin || at_ - begin > kSafeDigits || n > static_cast<uint64_t>(INT64_MAX))
      return false;
    const auto stored = InfluxTime(static_cast<int64_t>(n), unit);
    if (!stored) return false;
    *time = *stored;
    return true;
  }

 private:
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - at_); }
  [[nodiscard]] bool AtTokenEnd() const {
    return at_ == end_ || *at_ == ',' || *at_ == ' ' || *at_ == '\n' || *at_ == '\r';
  }
  std::string_view TakeToken() {
    const char* const begin = at_;
    while (!AtTokenEnd()) ++at_;
    return {begin, static_cast<size_t>(at_ - begin)};
  }
  /// Adds decimal digits to *n. Overflow wraps around; the caller limits the number of digits.
  void TakeDigits(uint64_t* n) {
    for (; at_ != end_ && IsDigit(*at_); ++at_) *n = *n * 10 + static_cast<unsigned>(*at_ - '0');
  }

  const char* at_;
  const char* const end_;
};

/// Parses one line. `previous`: index of the first field of the previous line, because agents
/// repeat the names of fields.
bool TakeLine(Cursor* text, InfluxUnit unit, Timestamp now, size_t previous, InfluxPoints* points) {
  KeyedLine line;
  line.time = now;
  if (!text->TakeSeries(&line.series)) return false;
  std::vector<KeyedField>& fields = points->fields;
  const size_t first = fields.size(), texts = points->text_fields;
  text->Skip(' ');
  do {
    if (fields.size() - first + points->text_fields - texts == kInfluxFieldsMax) return false;
    const size_t likely = previous + (fields.size() - first);
    KeyedField field;
    if (!text->TakeName(likely < first ? fields[likely].name : std::string_view(), &field.name))
      return false;
    if (text->Is('"')) {
      if (!text->SkipText()) return false;
      ++points->text_fields;
      continue;
    }
    if (!text->TakeValue(&field.value)) return false;
    fields.push_back(field);
  } while (text->Skip(','));
  text->SkipBlanks();
  if (!text->done() && !text->Is('\n') && !text->Is('\r')) {
    if (!text->TakeTime(unit, &line.time)) return false;
    text->SkipBlanks();
  }
  text->Skip('\r');
  if (!text->Skip('\n') && !text->done()) return false;
  line.fields = static_cast<uint32_t>(fields.size() - first);
  points->lines.push_back(line);
  return line.fields > 0;  // in a line with only text fields, the series would not be checked
}

}  // namespace

bool ParseInfluxLines(std::string_view body, InfluxUnit unit, Timestamp now, InfluxPoints* points) {
  points->Clear();
  Cursor text(body);
  size_t previous = 0;
  while (!text.done()) {
    if (text.Is('#')) {
      text.SkipLine();
    } else if (!text.Is('\n')) {
      const size_t first = points->fields.size();
      if (!TakeLine(&text, unit, now, previous, points)) return false;
      previous = first;
      continue;
    }
    text.Skip('\n');
  }
  return true;
}

}  // namespace hg::http
