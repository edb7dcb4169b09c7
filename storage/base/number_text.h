#pragma once
// Numbers as text the way Java's Double.toString and Float.toString lay them out: what OpenTSDB
// puts on the wire and into stored metadata (spec http-api.md appendix B). Digits are the shortest
// that read back to the same number.

#include <string>

namespace hg {

/// "21.0", "0.001", "1.0E7", "4.9E-324", "-0.0"; "NaN", "Infinity", "-Infinity" without quotes.
void AppendDoubleText(double value, std::string* out);

/// The same with the shortest digits of a single: 0.1f gives "0.1".
void AppendFloatText(float value, std::string* out);

}  // namespace hg
