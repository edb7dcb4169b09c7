#pragma once
// Reads and prints numbers like Prometheus, in the format of Go's strconv. Label values (le,
// count_values) and responses contain such numbers.

#include <optional>
#include <string>
#include <string_view>

namespace hg::query::promql {

/// Parses a floating point number: decimal, or hexadecimal with an exponent, with a sign, or "inf",
/// "infinity" and "nan" in any case. Returns nullopt if the text is not a number or beyond the
/// range of doubles.
std::optional<double> ParseFloat(std::string_view text);

/// Parses a number literal. Integers may also be hexadecimal, or octal with a leading 0 ("010" is
/// 8, "09" is 9). Underscores between digits are ignored.
std::optional<double> ParseLiteral(std::string_view text);

/// Returns the shortest decimal digits that are parsed to the same double, always without an
/// exponent. Returns "NaN", "+Inf" or "-Inf" for other values.
std::string FixedText(double value);

/// Appends the shortest digits, as FixedText does, but with an exponent below 1e-06 and from 1e+21
/// on. Responses are printed in this form.
void AppendAnswerText(double value, std::string* out);

/// Appends the shortest digits, as FixedText does, but with an exponent below 1e-04 and from 1e+06
/// on, as Prometheus' text format for scrapes has them. For -0 it appends "0".
void AppendScrapedText(double value, std::string* out);

}  // namespace hg::query::promql
