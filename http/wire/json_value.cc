#include "http/wire/json_value.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "http/wire/long_numbers.h"
#include "http/wire/request_memory.h"
#include "storage/base/keyed_hash.h"
#include "storage/model/number_text.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

constexpr unsigned kParseFlags = rapidjson::kParseIterativeFlag |
                                 rapidjson::kParseNumbersAsStringsFlag |
                                 rapidjson::kParseNanAndInfFlag | rapidjson::kParseStopWhenDoneFlag;

constexpr std::string_view kHalfPair = "A text has a \\u escape of half a surrogate pair";

using Visit = std::function<Status(const JsonValue&)>;

/// Builds the tree from the reader's events; returning false ends the parse.
class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  /// Creates a builder. `visit`: receives the elements of the outermost array one by one; nullptr:
  /// the tree keeps them.
  Builder(const Visit* visit, RequestMemory::Share* share, RequestContext& context)
      : visit_(visit), share_(share), context_(context) {}

  /// Prepares for a second parse, of the document in which HideLongNumbers replaced long numbers.
  /// The builder puts the long numbers in `hidden` back. Elements that the first parse visited are
  /// not visited again. `hidden` must outlive the parse.
  void Restart(const HiddenNumbers* hidden) {
    GiveBack(held_);
    root = JsonValue();
    open_.clear();
    hidden_ = hidden;
    numbers_ = put_back_ = 0;
    visited_before_ = visited_;
    visited_ = 0;
  }

  bool Null() { return AddScalar(JsonValue::Kind::kNull, {}); }
  bool Bool(bool b) { return AddScalar(JsonValue::Kind::kBool, b ? "true" : "false"); }
  bool Double(double d) {  // only called for NaN and infinities
    return AddScalar(JsonValue::Kind::kNumber, std::isnan(d) ? "NaN"
                                               : d > 0       ? "Infinity"
                                                             : "-Infinity");
  }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    std::string_view number(text, size);
    if (hidden_ != nullptr && number.find_first_of("NI") == number.npos) {  // no NaN or Infinity
      const auto& hidden = hidden_->numbers;
      if (put_back_ < hidden.size() && hidden[put_back_].first == numbers_++)
        number = hidden[put_back_++].second;
    }
    return AddScalar(JsonValue::Kind::kNumber, number);
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return AddScalar(JsonValue::Kind::kString, {text, size});
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (!TakeText(size)) return false;
    key_.assign(text, size);
    return MakeUtf8(&key_);
  }
  bool StartObject() { return Open(JsonValue::Kind::kObject); }
  bool EndObject(rapidjson::SizeType) { return Close(); }
  bool StartArray() { return Open(JsonValue::Kind::kArray); }
  bool EndArray(rapidjson::SizeType) { return Close(); }

  JsonValue root;
  /// The error that ended the parse, unless it was a syntax error or the depth limit.
  Status status;

 private:
  bool AddScalar(JsonValue::Kind kind, std::string_view text) {
    JsonValue* value = Add(kind, text);
    if (value == nullptr) return false;
    if (kind == JsonValue::Kind::kString && !MakeUtf8(&value->text)) return false;
    return EndElement();
  }
  // Replaces invalid bytes of the text, for which memory was already taken. The replacement of a
  // byte has three bytes.
  bool MakeUtf8(std::string* text) {
    if (IsUtf8(*text)) return true;
    if (!TakeText(2 * text->size())) return false;
    ReplaceInvalidUtf8(text);
    return true;
  }
  JsonValue* Add(JsonValue::Kind kind, std::string_view text) {
    constexpr uint64_t kValuesPerLook = 4096;  // about a millisecond
    if (++values_ % kValuesPerLook == 0) status = context_.Check();
    if (!status.ok() || !TakeText(text.size())) return nullptr;
    JsonValue* value = &root;
    if (!open_.empty()) {
      JsonValue* parent = open_.back();
      constexpr size_t kFirstMembers = 4;
      if (parent->kind == JsonValue::Kind::kArray) {
        if (!MakeRoom(&parent->items, 1)) return nullptr;
        value = &parent->items.emplace_back();
      } else {
        if (!MakeRoom(&parent->members, kFirstMembers)) return nullptr;
        value = &parent->members.emplace_back(JsonMember{std::move(key_), JsonValue()}).value;
      }
    }
    value->kind = kind;
    value->text = text;
    return value;
  }
  bool Open(JsonValue::Kind kind) {
    if (open_.size() >= static_cast<size_t>(kJsonDepthMax)) return false;
    JsonValue* value = Add(kind, {});
    if (value == nullptr) return false;
    open_.push_back(value);
    return true;
  }
  bool Close() {
    open_.pop_back();
    return EndElement();
  }
  /// Called after each value. Passes an element of the outermost array to visit_.
  bool EndElement() {
    if (visit_ == nullptr || open_.size() != 1 || root.kind != JsonValue::Kind::kArray) return true;
    if (visited_++ >= visited_before_) status = (*visit_)(root.items.back());
    root.items.clear();
    GiveBack(held_);
    return status.ok();
  }

  /// Doubles the capacity if the list is full. Charges the new buffer before the old one is given
  /// back, because both exist during the copy.
  template <typename T>
  bool MakeRoom(std::vector<T>* list, size_t first) {
    const size_t before = list->capacity();
    if (list->size() < before) return true;
    const size_t room = std::max(first, 2 * before);
    if (!Take(room * sizeof(T))) return false;
    list->reserve(room);
    GiveBack(std::min<uint64_t>(held_, before * sizeof(T)));
    return true;
  }
  /// Charges the memory of a text. Short texts are stored in the value itself.
  bool TakeText(size_t size) {
    constexpr size_t kShortTextBytes = 15;
    return size <= kShortTextBytes || Take(size);
  }
  bool Take(uint64_t bytes) {
    if (share_ == nullptr) return true;
    if (!share_->Take(bytes)) {
      status = share_->refusal();
      return false;
    }
    held_ += bytes;
    return true;
  }
  void GiveBack(uint64_t bytes) {
    if (share_ == nullptr) return;
    share_->Give(bytes);
    held_ -= bytes;
  }

  const Visit* const visit_;
  RequestMemory::Share* const share_;
  RequestContext& context_;
  uint64_t values_ = 0;
  uint64_t held_ = 0;  // bytes charged to share_ since the last visited element
  // Open arrays and objects, the outermost first. The pointers stay valid, because a parent's list
  // does not grow while a child is open.
  std::vector<JsonValue*> open_;
  std::string key_;
  const HiddenNumbers* hidden_ = nullptr;
  size_t numbers_ = 0, put_back_ = 0;        // numbers read; numbers of `hidden_` put back
  size_t visited_ = 0, visited_before_ = 0;  // elements of this parse; of the previous one
};

rapidjson::ParseResult Parse(std::string_view text, Builder* builder) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  return reader.Parse<kParseFlags>(stream, *builder);
}

Status Build(std::string_view text, RequestMemory::Share* memory, Builder* builder) {
  rapidjson::ParseResult result = Parse(text, builder);
  if (result.Code() == rapidjson::kParseErrorNumberTooBig) {
    ASSIGN_OR_RETURN(const HiddenNumbers hidden, HideLongNumbers(text, memory));
    builder->Restart(&hidden);
    result = Parse(hidden.document, builder);
  }
  if (!result.IsError()) return {};
  RETURN_IF_ERROR(builder->status);
  const std::string where = " (at byte " + std::to_string(result.Offset()) + ")";
  if (result.Code() == rapidjson::kParseErrorStringUnicodeSurrogateInvalid)
    return Status::InvalidArgument(std::string(kHalfPair) + where);
  if (result.Code() == rapidjson::kParseErrorTermination)
    return Status::LimitExceeded("The document is nested deeper than " +
                                 std::to_string(kJsonDepthMax) + " levels" + where);
  return Status::InvalidArgument(rapidjson::GetParseError_En(result.Code()) + where);
}

}  // namespace

Status WrongMember(std::string_view key, std::string_view expected) {
  return Status::InvalidArgument("\"" + std::string(key) + "\" must be " + std::string(expected));
}

const JsonValue* JsonValue::Find(std::string_view name) const {
  for (auto it = members.rbegin(); it != members.rend(); ++it)
    if (it->name == name) return &it->value;
  return nullptr;
}

Result<std::vector<const JsonMember*>> JsonValue::LastMembers(RequestContext& context) const {
  // Memory of a name in the set, and the work for it in steps.
  constexpr size_t kBytesPerName = 48, kStepsPerName = 4, kNamesPerStep = 1024;
  std::vector<const JsonMember*> last;
  RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(members.size() * sizeof(last[0]))));
  MemoryTally tally(&context);
  RETURN_IF_ERROR(tally.Add(static_cast<int64_t>(members.size() * kBytesPerName)));
  last.reserve(members.size());
  boost::unordered_flat_set<std::string_view, keyed_hash::Hash> names;
  names.reserve(members.size());
  for (size_t i = members.size(); i-- > 0;) {
    if (names.insert(members[i].name).second) last.push_back(&members[i]);
    if ((i + 1) % kNamesPerStep == 0) RETURN_IF_ERROR(context.Step(kNamesPerStep * kStepsPerName));
  }
  std::reverse(last.begin(), last.end());
  return last;
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
  // For numbers out of range, from_chars leaves the value unchanged; strtod returns infinity or
  // zero.
  return error == std::errc() ? value : std::strtod(text.c_str(), nullptr);
}

Result<JsonValue> ParseJson(std::string_view text, RequestMemory::Share* memory,
                            RequestContext& context) {
  Builder builder(nullptr, memory, context);
  RETURN_IF_ERROR(Build(text, memory, &builder));
  return std::move(builder.root);
}

Status ParseJsonElements(std::string_view text, const Visit& visit, RequestMemory::Share* memory,
                         RequestContext& context) {
  Builder builder(&visit, memory, context);
  RETURN_IF_ERROR(Build(text, memory, &builder));
  return builder.root.is_array() ? Status() : visit(builder.root);
}

bool IsHalfSurrogatePair(const Status& status) { return status.message().starts_with(kHalfPair); }

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
