#pragma once
// Numbers as text, the way OpenTSDB and Java read and print them (spec http-api.md §8.3, §8.4 and
// appendix B; schema.md §7.2; OpenTSDB Tags.parseLong).

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "storage/model/point.h"

namespace hg {

/// Which door a value came in by: it decides how text that is no integer is stored.
enum class EntryPath : unsigned char {
  kTelnet,  // a single if that is exact, else a double
  kHttp,    // always a double
  kImport,  // always a single
};

enum class NumberFault : unsigned char {
  kNone,
  kEmpty,             // no text
  kSignOnly,          // "-"
  kTooLong,           // more than 19 digits
  kIllegalCharacter,  // in an integer
  kOverflow,          // an integer beyond int64
  kNotANumber,        // looks like floating point, is not
  kNotFinite,         // floating point beyond the range of its type
};

/// Why a text was refused. `message` is the text OpenTSDB puts behind "invalid value: "; of
/// kNotFinite only "Infinity" or
/// "-Infinity", which its message about the point goes on to quote. Bytes of the text appear in it
/// as they came.
struct NumberError {
  NumberFault fault = NumberFault::kNone;
  std::string message;
};

/// A number with a fraction as its way in stores it: lines in a single where that says all of it.
inline PointValue FloatingValue(double v, EntryPath path) {
  // Beyond a single's range the cast would be undefined.
  const bool fits = path == EntryPath::kTelnet && std::abs(v) <= std::numeric_limits<float>::max();
  const bool single = fits && static_cast<double>(static_cast<float>(v)) == v;
  return single ? PointValue::Float(static_cast<float>(v)) : PointValue::Double(v);
}

/// Reads a point's value. Text without '.', 'e' and 'E' is an integer ([+-]?[0-9]+, at most 19
/// digits, within int64) and takes its shortest form; other text is what Java's Double.parseDouble
/// takes, stored as the path says. False: `error` says why, `value` is untouched.
bool ParseValue(std::string_view text, EntryPath path, PointValue* value, NumberError* error);

/// Reads an integer of the grammar above. `out` is untouched on failure.
bool ParseLong(std::string_view text, int64_t* out, NumberError* error);

/// Integer.parseInt: sign, decimal digits, 32 bits.
std::optional<int32_t> ParseInt32(std::string_view text);

/// Reads the time of a telnet line: an integer from which every '.' is first removed, so that
/// "seconds.mmm" becomes milliseconds. Whether it is in range is the caller's question. Import
/// lines use ParseLong.
bool ParseTelnetTime(std::string_view text, int64_t* out, NumberError* error);

/// Reads what Java's Double.parseDouble takes, except NaN and Infinity: blanks around, decimal or
/// hexadecimal, suffix f F d D. Beyond the range gives an infinity. False: not a number.
bool ParseJavaDouble(std::string_view text, double* out);
/// The same of Float.parseFloat: rounded once, to a single.
bool ParseJavaFloat(std::string_view text, float* out);

/// Appends Double.toString: 1.0, 1.0E7, -0.0, NaN, Infinity; digits as in java_digits.h.
void AppendJavaDouble(std::string* out, double v);
/// Appends Float.toString.
void AppendJavaFloat(std::string* out, float v);
/// Appends Java's "%f": six decimals, half up on those digits. NaN and infinities as above.
void AppendFixed6(std::string* out, double v);

std::string JavaDouble(double v);

/// java.lang.String.trim: without the blanks and control characters at both ends.
std::string_view JavaTrim(std::string_view text);

}  // namespace hg
