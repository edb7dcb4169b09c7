#pragma once
// JSON documents in, with the leniency of spec http-api.md §4: bare NaN and Infinity are numbers,
// the last of equal keys counts, text after the first complete value is ignored, numbers keep the
// text of their token so that they can stand where a string is expected, bytes that are no UTF-8
// and halves of surrogate pairs become U+FFFD. For requests; the write path of points has its own
// parser.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::http {

struct JsonMember;

/// One value and all below it. Immutable once parsed.
struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;              // kString: decoded; kNumber: as written; kBool: "true" or "false"
  std::vector<JsonValue> items;  // kArray
  std::vector<JsonMember> members;  // kObject, in order of appearance

  [[nodiscard]] bool is_null() const { return kind == Kind::kNull; }
  [[nodiscard]] bool is_array() const { return kind == Kind::kArray; }
  [[nodiscard]] bool is_object() const { return kind == Kind::kObject; }
  /// A string, or a number or boolean that may stand for one.
  [[nodiscard]] bool is_scalar() const {
    return kind == Kind::kBool || kind == Kind::kNumber || kind == Kind::kString;
  }

  /// The last member of that name; nullptr if there is none, or no object.
  [[nodiscard]] const JsonValue* Find(std::string_view name) const;
  /// The value as an integer: a number or string of decimal digits in range; a fraction is cut off
  /// a number only. "" and "null" are 0.
  [[nodiscard]] std::optional<int64_t> AsInt() const;
  /// The value as a boolean: true, false, "true", "True", "false", "False", "" and "null" (false),
  /// blanks around them do not count; a whole number (0 is false).
  [[nodiscard]] std::optional<bool> AsBool() const;
  /// The value as a double: a number, or a string that is one.
  [[nodiscard]] std::optional<double> AsDouble() const;
};

/// A name and its value; a std::pair of an incomplete type is more than clang 14 takes.
struct JsonMember {
  std::string name;
  JsonValue value;
};

/// What stands for an object of one member: a bare value of that kind (a whole number, if it is
/// one) becomes the object whose only member `name` it is, anything else stays. OpenTSDB's JSON
/// library takes it for the argument of a class whose constructor has one.
JsonValue ObjectOfOne(JsonValue value, JsonValue::Kind kind, std::string_view name);

/// Levels of nesting that are accepted: no request needs more, and a value frees itself
/// recursively.
inline constexpr int kJsonDepthMax = 128;

/// The first value of `text`. InvalidArgument: what is wrong, and at which byte. LimitExceeded: it
/// is nested too deep, or RequestMemory::Share::Current() refused what the tree takes as it grows.
Result<JsonValue> ParseJson(std::string_view text);

/// The same for long arrays: hands over their elements one by one, each gone before the next is
/// read; another value than an array is handed over as the only one. Ends with what `visit` says if
/// that is not ok; behind what was visited may stand what is no JSON.
Status ParseJsonElements(std::string_view text,
                         const std::function<Status(const JsonValue&)>& visit);

}  // namespace hg::http
