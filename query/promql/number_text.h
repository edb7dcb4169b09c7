#pragma once
// Numbers as Prometheus reads and prints them: the texts of Go's strconv, which label values (le,
// count_values) and answers consist of. Pure.

#include <optional>
#include <string>
#include <string_view>

namespace hg::query::promql {

/// A floating point number: decimal or hexadecimal (with its exponent), a sign, "inf", "infinity"
/// and "nan" in any case. None: not a number, or beyond the range of doubles.
std::optional<double> ParseFloat(std::string_view text);

/// A number literal: integers may be hexadecimal, or octal with a leading 0 ("010" is 8, "09" is
/// 9).
std::optional<double> ParseLiteral(std::string_view text);

/// The shortest digits that read back to the same double, never with an exponent; "NaN", "+Inf",
/// "-Inf".
std::string FixedText(double value);

/// The same, but with an exponent below 1e-06 and from 1e+21 on: how answers are printed.
void AppendAnswerText(double value, std::string* out);

}  // namespace hg::query::promql
