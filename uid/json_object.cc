#include "uid/json_object.h"

#include <rapidjson/error/en.h>

#include "storage/model/utf8.h"

namespace hg::uid {
namespace {

rapidjson::SizeType Size(std::string_view text) {
  return static_cast<rapidjson::SizeType>(text.size());
}

}  // namespace

void ObjectWriter::Key(std::string_view key) { writer_.Key(key.data(), Size(key)); }

ObjectWriter& ObjectWriter::Text(std::string_view key, std::string_view text) {
  Key(key);
  writer_.String(text.data(), Size(text));
  return *this;
}

ObjectWriter& ObjectWriter::Null(std::string_view key) {
  Key(key);
  writer_.Null();
  return *this;
}

ObjectWriter& ObjectWriter::Number(std::string_view key, int64_t number) {
  Key(key);
  writer_.Int64(number);
  return *this;
}

ObjectWriter& ObjectWriter::Flag(std::string_view key, bool flag) {
  Key(key);
  writer_.Bool(flag);
  return *this;
}

ObjectWriter& ObjectWriter::NumberText(std::string_view key, std::string_view text) {
  Key(key);
  writer_.RawValue(text.data(), text.size(), rapidjson::kNumberType);
  return *this;
}

ObjectWriter& ObjectWriter::Begin(std::string_view key) {
  Key(key);
  writer_.StartObject();
  return *this;
}

ObjectWriter& ObjectWriter::End() {
  writer_.EndObject();
  return *this;
}

std::string ObjectWriter::Finish() {
  writer_.EndObject();
  return {buffer_.GetString(), buffer_.GetSize()};
}

ObjectReader::ObjectReader(std::string what, ByteView json) : what_(std::move(what)) {
  document_.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (document_.HasParseError()) {
    status_ =
        Status::Corruption(what_ + ": " + rapidjson::GetParseError_En(document_.GetParseError()) +
                           " At byte " + std::to_string(document_.GetErrorOffset()));
  } else if (!document_.IsObject()) {
    status_ = Status::Corruption(what_ + ": not a JSON object");
  }
}

ObjectReader& ObjectReader::Text(const rapidjson::Value& object, const char* key,
                                 std::string* out) {
  const rapidjson::Value* value = Said(object, key);
  if (value == nullptr) return *this;
  if (!value->IsString()) return Damaged(key);
  *out = Utf8(*value);
  return *this;
}

ObjectReader& ObjectReader::Flag(const char* key, bool* out) {
  const rapidjson::Value* value = Said(document_, key);
  if (value == nullptr) return *this;
  if (!value->IsBool()) return Damaged(key);
  *out = value->GetBool();
  return *this;
}

ObjectReader& ObjectReader::Damaged(const char* key) {
  if (status_.ok()) status_ = Status::Corruption(what_ + ": field " + key + " is not valid");
  return *this;
}

const rapidjson::Value* ObjectReader::Find(const rapidjson::Value& object, const char* key) const {
  if (!status_.ok()) return nullptr;
  const auto member = object.FindMember(key);
  return member == object.MemberEnd() ? nullptr : &member->value;
}

const rapidjson::Value* ObjectReader::Said(const rapidjson::Value& object, const char* key) const {
  const rapidjson::Value* value = Find(object, key);
  return value == nullptr || value->IsNull() ? nullptr : value;
}

std::string Utf8(const rapidjson::Value& value) {
  std::string text(value.GetString(), value.GetStringLength());
  ReplaceInvalidUtf8(&text);
  return text;
}

}  // namespace hg::uid
