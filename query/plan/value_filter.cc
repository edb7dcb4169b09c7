#include "query/plan/value_filter.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "storage/model/number_text.h"

namespace hg::query {
namespace {

constexpr double kBeyondIntegers = 0x1p63;

/// Calls `call` with the function object of the comparison.
template <typename T, typename Comparison, typename Call>
auto With(Comparison comparison, const Call& call) {
  switch (comparison) {
    case Comparison::kGreater:
      return call(std::greater<T>());
    case Comparison::kGreaterOrEqual:
      return call(std::greater_equal<T>());
    case Comparison::kLess:
      return call(std::less<T>());
    case Comparison::kLessOrEqual:
      return call(std::less_equal<T>());
    case Comparison::kEqual:
      return call(std::equal_to<T>());
    case Comparison::kNotEqual:
      break;
  }
  return call(std::not_equal_to<T>());
}

template <typename Comparison, typename T>
bool Compare(Comparison comparison, T value, T number) {
  return With<T>(comparison, [&](auto holds) { return holds(value, number); });
}

// Keeps the admitted points of a row whose points are all integers or all doubles. It has no branch
// per point. Returns the number of admitted points.
template <typename Comparison, typename T>
size_t KeepAlike(Comparison comparison, T number, const RowHour& row, KeptPoints* kept) {
  return With<T>(comparison, [&](auto holds) {
    size_t count = 0;
    for (size_t i = 0; i < row.value.size(); ++i) {
      kept->offset_ms[count] = row.offset_ms[i];
      kept->value[count] = row.value[i];
      count += holds(std::bit_cast<T>(row.value[i]), number) ? 1 : 0;
    }
    return count;
  });
}

// Parses a number. Returns false if it is not the whole text.
template <typename T>
bool ReadNumber(std::string_view text, T* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<ValueFilter> ValueFilter::Parse(std::string_view text) {
  static constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
      {">=", Comparison::kGreaterOrEqual}, {"<=", Comparison::kLessOrEqual},
      {"==", Comparison::kEqual},          {"!=", Comparison::kNotEqual},
      {">", Comparison::kGreater},         {"<", Comparison::kLess}};
  const std::string_view trimmed = JavaTrim(text);
  for (const auto& [sign, comparison] : kComparisons) {
    if (!trimmed.starts_with(sign)) continue;
    const std::string_view number = JavaTrim(trimmed.substr(sign.size()));
    ValueFilter out;
    out.comparison_ = comparison;
    if (int64_t integer = 0; ReadNumber(number, &integer)) {
      out.integer_ = integer;
      out.number_ = static_cast<double>(integer);
    } else if (!ReadNumber(number, &out.number_) || !std::isfinite(out.number_)) {
      break;
    } else if (out.number_ == std::floor(out.number_) && out.number_ >= -kBeyondIntegers &&
               out.number_ < kBeyondIntegers) {
      out.integer_ = static_cast<int64_t>(out.number_);
    }
    return out;
  }
  return Status::InvalidArgument("Bad value filter '" + std::string(text) +
                                 "': it must be one of > >= < <= == != and a number");
}

ValueFilter::Comparison ValueFilter::Opposite(Comparison comparison) {
  switch (comparison) {
    case Comparison::kGreater:
      return Comparison::kLessOrEqual;
    case Comparison::kGreaterOrEqual:
      return Comparison::kLess;
    case Comparison::kLess:
      return Comparison::kGreaterOrEqual;
    case Comparison::kLessOrEqual:
      return Comparison::kGreater;
    case Comparison::kEqual:
      return Comparison::kNotEqual;
    case Comparison::kNotEqual:
      return Comparison::kEqual;
  }
  return comparison;
}

// If `integer_` is not set, `number_` has a fraction or does not fit 64 bits, so no integer equals
// it. The conversion of an integer to double does not change its order relative to `number_`,
// except that the result may be 2^63. So numbers from 2^63 on are replaced by infinity.
bool ValueFilter::Holds(Comparison comparison, int64_t value) const {
  if (integer_) return Compare(comparison, value, *integer_);
  const double number =
      number_ >= kBeyondIntegers ? std::numeric_limits<double>::infinity() : number_;
  return Compare(comparison, static_cast<double>(value), number);
}

bool ValueFilter::Holds(Comparison comparison, double value) const {
  return Compare(comparison, value, number_);
}

bool ValueFilter::Admits(int64_t value) const { return Holds(comparison_, value); }
bool ValueFilter::Admits(double value) const { return Holds(comparison_, value); }

// Returns whether the comparison may hold for a value of a row. `least` and `most` are the smallest
// and the largest value of the row.
template <typename T>
bool ValueFilter::SomeHold(Comparison comparison, T least, T most) const {
  switch (comparison) {
    case Comparison::kGreater:
    case Comparison::kGreaterOrEqual:
      return Holds(comparison, most);
    case Comparison::kLess:
    case Comparison::kLessOrEqual:
      return Holds(comparison, least);
    case Comparison::kEqual:
      return Holds(Comparison::kLessOrEqual, least) && Holds(Comparison::kGreaterOrEqual, most);
    case Comparison::kNotEqual:
      return Holds(comparison, least) || Holds(comparison, most);
  }
  return true;
}

bool ValueFilter::SomeHold(Comparison comparison, const RowStatistics& row) const {
  if (row.all_double) return SomeHold(comparison, row.least, row.most);
  return SomeHold(comparison, static_cast<int64_t>(row.least), static_cast<int64_t>(row.most));
}

bool ValueFilter::AdmitsSome(const RowStatistics& row) const { return SomeHold(comparison_, row); }

bool ValueFilter::AdmitsAll(const RowStatistics& row) const {
  return !SomeHold(Opposite(comparison_), row);
}

void ValueFilter::Apply(RowHour* row, KeptPoints* kept) const {
  const size_t n = row->value.size();
  kept->offset_ms.resize(n);
  kept->value.resize(n);
  kept->is_double.resize(row->is_double.size());
  size_t count = 0;
  if (!row->is_double.empty() || (!row->all_double && !integer_)) {
    for (size_t i = 0; i < n; ++i) {
      const bool is_double = row->double_at(i);
      kept->offset_ms[count] = row->offset_ms[i];
      kept->value[count] = row->value[i];
      if (!kept->is_double.empty()) kept->is_double[count] = is_double ? 1 : 0;
      count += is_double ? Admits(std::bit_cast<double>(row->value[i]))
                         : Admits(static_cast<int64_t>(row->value[i]));
    }
  } else if (row->all_double) {
    count = KeepAlike(comparison_, number_, *row, kept);
  } else {
    count = KeepAlike(comparison_, *integer_, *row, kept);
  }
  row->offset_ms = {kept->offset_ms.data(), count};
  row->value = {kept->value.data(), count};
  if (!row->is_double.empty()) row->is_double = {kept->is_double.data(), count};
}

}  // namespace hg::query
