#pragma once
// Parses and prints numbers like OpenTSDB and Java do (opentsdb-http-api.md §8.3, §8.4 and appendix
// B; opentsdb-schema.md §7.2; OpenTSDB Tags.parseLong).

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "storage/model/point.h"

namespace hg {

/// The interface through which a value was received. It determines the stored type of numbers that
/// are not integers.
enum class EntryPath : unsigned char {
  kTelnet,  // stored as float if float is exact, otherwise as double
  kHttp,    // always stored as double
  kImport,  // always stored as float
};

enum class NumberFault : unsigned char {
  kNone,
  kEmpty,             // the text is empty
  kSignOnly,          // the text is "-"
  kTooLong,           // the integer has more than 19 digits
  kIllegalCharacter,  // the integer has an illegal character
  kOverflow,          // the integer is outside of int64
  kNotANumber,        // the text looks like floating point but cannot be parsed
  kNotFinite,         // the number is outside of the range of its floating point type
};

/// The reason why a text was rejected. `message` is the text that OpenTSDB puts after "invalid
/// value: ". For kNotFinite, `message` is only "Infinity" or "-Infinity", which OpenTSDB's message
/// about the point contains. Bytes of the input are unchanged in the message.
struct NumberError {
  NumberFault fault = NumberFault::kNone;
  std::string message;
};

/// Returns a number with a fraction in the type for its entry path. For telnet, the type is float
/// if a float represents the number exactly, and double otherwise.
inline PointValue FloatingValue(double v, EntryPath path) {
  // This check comes first, because casting a number beyond the range of float is undefined
  // behaviour.
  const bool fits = path == EntryPath::kTelnet && std::abs(v) <= std::numeric_limits<float>::max();
  const bool single = fits && static_cast<double>(static_cast<float>(v)) == v;
  return single ? PointValue::Float(static_cast<float>(v)) : PointValue::Double(v);
}

/// Parses the value of a point. Text without '.', 'e' and 'E' is an integer ([+-]?[0-9]+, at most
/// 19 digits, within int64), which is stored in its shortest form. Other text is parsed like Java's
/// Double.parseDouble does and stored in the type for `path`. On failure, returns false, sets
/// `error` and leaves `value` unchanged.
bool ParseValue(std::string_view text, EntryPath path, PointValue* value, NumberError* error);

/// Parses an integer: [+-]?[0-9]+, at most 19 digits, within int64. On failure, returns false, sets
/// `error` and leaves `out` unchanged.
bool ParseLong(std::string_view text, int64_t* out, NumberError* error);

/// Parses a 32-bit integer as Java's Integer.parseInt does: sign and decimal digits. Returns
/// nullopt on failure.
std::optional<int32_t> ParseInt32(std::string_view text);

/// Parses the time of a telnet line. ParseTelnetTime removes every '.' and parses an integer, so
/// "seconds.mmm" becomes milliseconds. The caller must check the range. For lines of the import
/// tool, use ParseLong.
bool ParseTelnetTime(std::string_view text, int64_t* out, NumberError* error);

/// Parses the texts that Java's Double.parseDouble accepts, except NaN and Infinity. The text may
/// have surrounding blanks, decimal or hexadecimal digits, and a suffix f F d D. Numbers out of
/// range become infinity. Returns false if the text is not a number.
bool ParseJavaDouble(std::string_view text, double* out);
/// Parses a float as Java's Float.parseFloat does. The number is rounded only once, directly to a
/// float.
bool ParseJavaFloat(std::string_view text, float* out);

/// Appends the text of Java's Double.toString: 1.0, 1.0E7, -0.0, NaN, Infinity. java_digits.h
/// determines the digits.
void AppendJavaDouble(std::string* out, double v);
/// Appends the text of Java's Float.toString.
void AppendJavaFloat(std::string* out, float v);
/// Appends the output of Java's "%f", which has six decimals. The digits of Double.toString are
/// rounded half up. NaN and infinities are printed as Double.toString prints them.
void AppendFixed6(std::string* out, double v);

std::string JavaDouble(double v);

/// Returns the text without blanks and control characters at both ends, like java.lang.String.trim.
std::string_view JavaTrim(std::string_view text);

}  // namespace hg
