#pragma once
// Parses JSON documents of requests with the leniency of opentsdb-http-api.md §4. Bare NaN and
// Infinity are numbers. If a key is repeated, its last value is used. Text after the first complete
// value is ignored. Numbers keep their text, so that they can be used as strings. Bytes that are
// not UTF-8, and the second half of a surrogate pair without the first half, become U+FFFD. The
// write path of points has its own parser.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

struct JsonMember;

/// A JSON value, including all values in it. Immutable after parsing.
struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;              // kString: decoded; kNumber: as written; kBool: "true" or "false"
  std::vector<JsonValue> items;  // kArray
  std::vector<JsonMember> members;  // kObject, in order of appearance

  [[nodiscard]] bool is_null() const { return kind == Kind::kNull; }
  [[nodiscard]] bool is_array() const { return kind == Kind::kArray; }
  [[nodiscard]] bool is_object() const { return kind == Kind::kObject; }
  /// Returns whether the value is a string, or a number or boolean, which can be used as a string.
  [[nodiscard]] bool is_scalar() const {
    return kind == Kind::kBool || kind == Kind::kNumber || kind == Kind::kString;
  }

  /// Returns the last member with that name. Returns nullptr if there is none, or if the value is
  /// not an object.
  [[nodiscard]] const JsonValue* Find(std::string_view name) const;
  /// Returns the members in order. If a name occurs several times, only its last member is
  /// returned. Faster than calling Find for each name.
  [[nodiscard]] std::vector<const JsonMember*> LastMembers() const;
  /// Returns the value as an integer, or nullopt. Accepts a number, or a string of decimal digits,
  /// in range. If a number has a fraction, the fraction is removed; a string must not have one. The
  /// strings "" and "null" are 0.
  [[nodiscard]] std::optional<int64_t> AsInt() const;
  /// Returns the value as a boolean, or nullopt. Accepts true and false, whole numbers (0 is
  /// false), and the texts "true", "True", "false", "False", "null" and "". The texts "null" and ""
  /// are false. Blanks around texts are ignored.
  [[nodiscard]] std::optional<bool> AsBool() const;
  /// Returns the value as a double, or nullopt. Accepts a number, or a string that contains one.
  [[nodiscard]] std::optional<double> AsDouble() const;
};

/// A name and its value. It is not a std::pair, because clang 14 does not accept a pair of an
/// incomplete type.
struct JsonMember {
  std::string name;
  JsonValue value;
};

/// If `value` has the kind `kind`, returns an object whose only member has the name `name` and this
/// value. For kNumber, only whole numbers are converted. Returns other values unchanged. OpenTSDB's
/// JSON library does the same for classes whose constructor has one argument.
JsonValue ObjectOfOne(JsonValue value, JsonValue::Kind kind, std::string_view name);

/// Returns the error for a member whose value has another form than `expected`.
Status WrongMember(std::string_view key, std::string_view expected);

/// Maximum nesting of a document. Requests need less, and each level uses stack when a value is
/// destroyed.
inline constexpr int kJsonDepthMax = 128;

/// Parses the first value of `text`. The message of InvalidArgument has the error and its byte.
/// LimitExceeded: the document is nested too deep. While the tree grows, its memory is charged to
/// `memory`; if that fails, returns the error of `memory`.
Result<JsonValue> ParseJson(std::string_view text, RequestMemory::Share* memory);

/// Returns whether a document could not be parsed because one of its texts has a \u escape for the
/// first half of a surrogate pair without the second half.
bool IsHalfSurrogatePair(const Status& status);

/// Passes the elements of an array to `visit` one by one. To save memory, the function frees each
/// element before it parses the next element. If the value is not an array, it is passed as the
/// only element. Stops at the first error of `visit` and returns it. `visit` may be called for some
/// elements before a later syntax error is found.
Status ParseJsonElements(std::string_view text,
                         const std::function<Status(const JsonValue&)>& visit,
                         RequestMemory::Share* memory);

}  // namespace hg::http
