#pragma once
// Parses and prints numbers as Prometheus does, in the format of Go's strconv. Label values (le,
// count_values) and responses contain numbers in this format.

#include <optional>
#include <string>
#include <string_view>

namespace hg::query::promql {

/// Parses a floating point number, which may have a sign. The number is a decimal number, a
/// hexadecimal number with an exponent, or one of the words "inf", "infinity" and "nan" in any
/// case. Returns nullopt if the text is not a number or is beyond the range of doubles.
std::optional<double> ParseFloat(std::string_view text);

/// Parses a number literal of PromQL. An integer may also be hexadecimal, or octal if it begins
/// with 0 ("010" is 8, "09" is 9). Underscores between digits are ignored.
std::optional<double> ParseLiteral(std::string_view text);

/// Returns the number in decimal, without an exponent, with the fewest digits that a parser
/// converts back to the same double. Returns "NaN", "+Inf" or "-Inf" for values that are not
/// finite.
std::string FixedText(double value);

/// Appends the text of the number, with the fewest digits that a parser converts back to the same
/// double. Numbers below 1e-06, and from 1e+21 on, are printed with an exponent. Responses contain
/// numbers in this form.
void AppendAnswerText(double value, std::string* out);

/// Appends the text of the number as in Prometheus' text format for scrapes, with the fewest digits
/// that a parser converts back to the same double. Numbers below 1e-04, and from 1e+06 on, are
/// printed with an exponent. The number -0 is printed as "0".
void AppendScrapedText(double value, std::string* out);

}  // namespace hg::query::promql
