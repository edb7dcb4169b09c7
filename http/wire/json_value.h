#pragma once
// Parses JSON documents of requests with the leniency of opentsdb-http-api.md §4. Bare NaN and
// Infinity are numbers. If a key is repeated, its last value is used. Text after the first complete
// value is ignored. Numbers keep their text, so that they can be used as strings. Bytes that are
// not UTF-8 become U+FFFD; so does the second half of a surrogate pair without the first half. The
// write path of points uses another parser.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/request_memory.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http {

struct JsonMember;

/// A JSON value, including all values within it. It is immutable after parsing.
struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  /// The decoded string of kString; the number of kNumber as written; "true" or "false".
  std::string text;
  std::vector<JsonValue> items;     // the elements of kArray
  std::vector<JsonMember> members;  // the members of kObject, in the order of their appearance

  [[nodiscard]] bool is_null() const { return kind == Kind::kNull; }
  [[nodiscard]] bool is_array() const { return kind == Kind::kArray; }
  [[nodiscard]] bool is_object() const { return kind == Kind::kObject; }
  /// Returns whether the value can be used as a string: whether it is a string, a number or a
  /// boolean.
  [[nodiscard]] bool is_scalar() const {
    return kind == Kind::kBool || kind == Kind::kNumber || kind == Kind::kString;
  }

  /// Returns the last member with that name. Returns nullptr if the object has no such member, or
  /// if the value is not an object.
  [[nodiscard]] const JsonValue* Find(std::string_view name) const;
  /// Returns the members of an object in their order. If a name occurs several times, only the last
  /// member with this name is returned. Calling this function is faster than calling Find for each
  /// name. The memory of the result stays charged to `context` until the request ends. Returns the
  /// errors of `context`.
  [[nodiscard]] Result<std::vector<const JsonMember*>> LastMembers(RequestContext& context) const;
  /// Returns the value as an integer. Accepts a number, or a string of decimal digits, if it is in
  /// the range of int64. The fraction of a number is removed; a string must not have a fraction.
  /// The strings "" and "null" are converted to 0. Returns nullopt for all other values.
  [[nodiscard]] std::optional<int64_t> AsInt() const;
  /// Returns the value as a boolean. Accepts true and false, whole numbers (0 is false), and the
  /// texts "true", "True", "false", "False", "null" and "". The texts "null" and "" are converted
  /// to false. Blanks around texts are ignored. Returns nullopt for all other values.
  [[nodiscard]] std::optional<bool> AsBool() const;
  /// Returns the value as a double. Accepts a number, or a string that contains a number. Returns
  /// nullopt for all other values.
  [[nodiscard]] std::optional<double> AsDouble() const;
};

/// A member of an object: its name and its value. It is not a std::pair, because clang 14 does not
/// accept a pair of an incomplete type.
struct JsonMember {
  std::string name;
  JsonValue value;
};

/// If `value` has the kind `kind`, returns an object that has one member with the name `name` and
/// the value `value`. For kNumber, only whole numbers are converted. Any other value is returned
/// unchanged. OpenTSDB's JSON library does the same for classes whose constructor has one argument.
JsonValue ObjectOfOne(JsonValue value, JsonValue::Kind kind, std::string_view name);

/// Returns the error for a member whose value does not have the form `expected`.
Status WrongMember(std::string_view key, std::string_view expected);

/// The maximum nesting depth of a document. Requests need fewer levels. The limit is necessary
/// because each level uses stack memory when a value is destroyed.
inline constexpr int kJsonDepthMax = 128;

/// Parses the first value of `text`. While the tree grows, its memory is charged to `memory`; if
/// charging fails, the function returns the error of `memory`. The function checks the limits of
/// `context` while it parses, and returns the errors of `context`. The message of InvalidArgument
/// describes the error and its byte offset. LimitExceeded: the document is nested too deep.
Result<JsonValue> ParseJson(std::string_view text, RequestMemory::Share* memory,
                            RequestContext& context = RequestContext::Unlimited());

/// Returns whether parsing of a document failed because a text contains a \u escape for the first
/// half of a surrogate pair without the second half.
bool IsHalfSurrogatePair(const Status& status);

/// Parses an array, and passes its elements to `visit` one by one. To save memory, the function
/// frees each element before it parses the next one. If the value is not an array, it is passed as
/// the only element. The function stops at the first error of `visit` and returns this error.
/// Before the function finds a syntax error, it may have called `visit` for earlier elements.
Status ParseJsonElements(std::string_view text,
                         const std::function<Status(const JsonValue&)>& visit,
                         RequestMemory::Share* memory,
                         RequestContext& context = RequestContext::Unlimited());

}  // namespace hg::http
