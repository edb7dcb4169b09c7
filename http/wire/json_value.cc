#include "http/wire/json_value.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "http/wire/long_numbers.h"
#include "storage/model/number_text.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag |
                            rapidjson::kParseNanAndInfFlag | rapidjson::kParseStopWhenDoneFlag;

/// Builds the tree from the reader's events; false ends the parse.
class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  Builder() = default;
  /// For a document whose `hidden` numbers are put back. The caller keeps them.
  explicit Builder(const HiddenNumbers* hidden) : hidden_(hidden) {}

  bool Null() { return Add(JsonValue::Kind::kNull, {}) != nullptr; }
  bool Bool(bool b) { return Add(JsonValue::Kind::kBool, b ? "true" : "false") != nullptr; }
  bool Double(double d) {  // only NaN and the infinities come this way
    return Add(JsonValue::Kind::kNumber, std::isnan(d) ? "NaN"
                                         : d > 0       ? "Infinity"
                                                       : "-Infinity") != nullptr;
  }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    std::string_view number(text, size);
    if (hidden_ != nullptr && number.find_first_of("NI") == number.npos) {  // no NaN or Infinity
      const auto found = hidden_->numbers.find(numbers_++);
      if (found != hidden_->numbers.end()) number = found->second;
    }
    return Add(JsonValue::Kind::kNumber, number) != nullptr;
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    ReplaceInvalidUtf8(&Add(JsonValue::Kind::kString, {text, size})->text);
    return true;
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    key_.assign(text, size);
    ReplaceInvalidUtf8(&key_);
    return true;
  }
  bool StartObject() { return Open(JsonValue::Kind::kObject); }
  bool EndObject(rapidjson::SizeType) { return Close(); }
  bool StartArray() { return Open(JsonValue::Kind::kArray); }
  bool EndArray(rapidjson::SizeType) { return Close(); }

  JsonValue root;

 private:
  JsonValue* Add(JsonValue::Kind kind, std::string_view text) {
    JsonValue* value = &root;
    if (!open_.empty()) {
      JsonValue* parent = open_.back();
      constexpr size_t kFirstMembers = 4;
      if (parent->kind == JsonValue::Kind::kObject && parent->members.empty())
        parent->members.reserve(kFirstMembers);
      value = parent->kind == JsonValue::Kind::kArray
                  ? &parent->items.emplace_back()
                  : &parent->members.emplace_back(JsonMember{std::move(key_), JsonValue()}).value;
    }
    value->kind = kind;
    value->text = text;
    return value;
  }
  bool Open(JsonValue::Kind kind) {
    if (open_.size() >= static_cast<size_t>(kJsonDepthMax)) return false;
    open_.push_back(Add(kind, {}));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  std::vector<JsonValue*> open_;  // outermost first; a parent does not grow while a child is open
  std::string key_;
  const HiddenNumbers* hidden_ = nullptr;
  size_t numbers_ = 0;  // so far
};

rapidjson::ParseResult Parse(std::string_view text, Builder* builder) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  return reader.Parse<kFlags>(stream, *builder);
}

}  // namespace

const JsonValue* JsonValue::Find(std::string_view name) const {
  for (auto it = members.rbegin(); it != members.rend(); ++it)
    if (it->name == name) return &it->value;
  return nullptr;
}

std::optional<int64_t> JsonValue::AsInt() const {
  if (kind != Kind::kNumber && kind != Kind::kString) return {};
  if (kind == Kind::kString && (text.empty() || text == "null")) return 0;
  const char* from = text.data();
  const char* end = from + text.size();
  if (from != end && *from == '+') ++from;
  int64_t value = 0;
  auto [stop, error] = std::from_chars(from, end, value);
  if (error == std::errc() && stop == end) return value;
  if (kind != Kind::kNumber) return {};
  const std::optional<double> number = AsDouble();
  constexpr double kInt64End = 9223372036854775808.0;
  if (!number || !(*number >= -kInt64End && *number < kInt64End)) return {};
  return static_cast<int64_t>(*number);
}

std::optional<bool> JsonValue::AsBool() const {
  if (kind == Kind::kBool) return text == "true";
  if (kind == Kind::kString) {
    const std::string_view word = JavaTrim(text);
    if (word == "true" || word == "True") return true;
    if (word == "false" || word == "False" || word == "null" || word.empty()) return false;
    return {};
  }
  if (kind != Kind::kNumber || text.find_first_of(".eENI") != std::string::npos) return {};
  const std::optional<double> number = AsDouble();
  if (!number) return {};
  return *number != 0;
}

std::optional<double> JsonValue::AsDouble() const {
  if (kind != Kind::kNumber && kind != Kind::kString) return {};
  if (text == "NaN") return std::nan("");
  if (text == "Infinity") return HUGE_VAL;
  if (text == "-Infinity") return -HUGE_VAL;
  const char* from = text.data();
  const char* end = from + text.size();
  if (from != end && *from == '+') ++from;
  if (from == end || !((*from >= '0' && *from <= '9') || *from == '-' || *from == '.')) return {};
  double value = 0;
  auto [stop, error] = std::from_chars(from, end, value);
  if (stop != end || error == std::errc::invalid_argument) return {};
  // Out of range leaves the value alone: strtod says whether it is infinite or zero.
  return error == std::errc() ? value : std::strtod(text.c_str(), nullptr);
}

Result<JsonValue> ParseJson(std::string_view text) {
  Builder builder;
  rapidjson::ParseResult result = Parse(text, &builder);
  if (result.Code() == rapidjson::kParseErrorNumberTooBig) {
    const HiddenNumbers hidden = HideLongNumbers(text);
    builder = Builder(&hidden);
    result = Parse(hidden.document, &builder);
  }
  if (result.IsError()) {
    const std::string where = " (at byte " + std::to_string(result.Offset()) + ")";
    if (result.Code() == rapidjson::kParseErrorTermination)
      return Status::InvalidArgument("The document is nested deeper than " +
                                     std::to_string(kJsonDepthMax) + " levels" + where);
    return Status::InvalidArgument(rapidjson::GetParseError_En(result.Code()) + where);
  }
  return std::move(builder.root);
}

JsonValue ObjectOfOne(JsonValue value, JsonValue::Kind kind, std::string_view name) {
  if (value.kind != kind) return value;
  if (kind == JsonValue::Kind::kNumber && value.text.find_first_of(".eEN") != std::string::npos)
    return value;
  JsonValue object;
  object.kind = JsonValue::Kind::kObject;
  object.members.push_back({std::string(name), std::move(value)});
  return object;
}

}  // namespace hg::http
