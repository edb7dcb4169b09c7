#pragma once
// Parses and prints numbers like Prometheus, in the format of Go's strconv. Label values (le,
// count_values) and responses contain such numbers.

#include <optional>
#include <string>
#include <string_view>

namespace hg::query::promql {

/// Parses a floating point number. It may have a sign. It is decimal, hexadecimal with an exponent,
/// or "inf", "infinity" or "nan" in any case. Returns nullopt if the text is not a number or is
/// beyond the range of doubles.
std::optional<double> ParseFloat(std::string_view text);

/// Parses a number literal. Integers may also be hexadecimal, or octal with a leading 0 ("010" is
/// 8, "09" is 9). Underscores between digits are ignored.
std::optional<double> ParseLiteral(std::string_view text);

/// Returns the shortest decimal digits from which a parser gets the same double, without an
/// exponent. Returns "NaN", "+Inf" or "-Inf" for values that are not finite.
std::string FixedText(double value);

/// Appends the shortest digits, as FixedText does. Values below 1e-06, and from 1e+21 on, get an
/// exponent. Responses contain numbers in this form.
void AppendAnswerText(double value, std::string* out);

/// Appends the shortest digits, as FixedText does, in the form of Prometheus' text format for
/// scrapes. Values below 1e-04, and from 1e+06 on, get an exponent. For -0 it appends "0".
void AppendScrapedText(double value, std::string* out);

}  // namespace hg::query::promql
