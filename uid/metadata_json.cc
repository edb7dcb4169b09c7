#include "uid/metadata_json.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>

#include "storage/model/java_hash.h"
#include "storage/model/number_text.h"
#include "storage/model/utf8.h"

namespace hg::uid {
namespace {

using Json = rapidjson::Value;

/// Writes members of one object.
class ObjectWriter {
 public:
  ObjectWriter() { writer_.StartObject(); }

  void Text(const char* key, const MetaText& text) {
    writer_.Key(key);
    if (text) {
      String(*text);
    } else {
      writer_.Null();
    }
  }
  void Number(const char* key, int64_t number) {
    writer_.Key(key);
    writer_.Int64(number);
  }
  /// Java's notation; NaN is a string.
  void Double(const char* key, double number) {
    writer_.Key(key);
    const std::string text = JavaDouble(number);
    if (std::isfinite(number)) {
      writer_.RawValue(text.data(), text.size(), rapidjson::kNumberType);
    } else {
      String(text);
    }
  }
  void Fields(const char* key, const std::optional<MetaFields>& fields) {
    writer_.Key(key);
    if (!fields) {
      writer_.Null();
      return;
    }
    std::vector<uint32_t> hashes;
    for (const auto& field : *fields) hashes.push_back(JavaHashUtf8(field.first));
    writer_.StartObject();
    for (size_t i : JavaMapOrder(hashes, Hash16Capacity(fields->size()))) {
      String((*fields)[i].first);
      String((*fields)[i].second);
    }
    writer_.EndObject();
  }
  std::string Finish() {
    writer_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  void String(const std::string& text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

Status WrongType(const char* field) {
  return Status::Corruption(std::string("metadata: field ") + field + " has another type");
}

/// What is no UTF-8, such as a half of a surrogate pair, becomes the replacement character.
std::string Utf8(const Json& value) {
  std::string text(value.GetString(), value.GetStringLength());
  ReplaceInvalidUtf8(&text);
  return text;
}

/// Reads members of one object; absent ones leave their target alone.
class ObjectReader {
 public:
  Status Parse(ByteView json) {
    document_.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
    if (document_.HasParseError())
      return Status::Corruption(std::string("metadata: ") +
                                rapidjson::GetParseError_En(document_.GetParseError()) +
                                " At byte " + std::to_string(document_.GetErrorOffset()));
    if (!document_.IsObject()) return Status::Corruption("metadata: not a JSON object");
    return {};
  }
  Status Text(const char* key, MetaText* out) const {
    const Json* value = Find(key);
    if (value == nullptr) return {};
    if (value->IsNull()) {
      out->reset();
      return {};
    }
    if (!value->IsString()) return WrongType(key);
    *out = Utf8(*value);
    return {};
  }
  template <typename T>
  Status Number(const char* key, T* out) const {
    const Json* value = Find(key);
    if (value == nullptr || value->IsNull()) return {};
    if (!value->IsInt64()) return WrongType(key);
    *out = static_cast<T>(value->GetInt64());
    return {};
  }
  Status Double(const char* key, double* out) const {
    const Json* value = Find(key);
    if (value == nullptr || value->IsNull()) return {};
    if (value->IsNumber()) {
      *out = value->GetDouble();
      return {};
    }
    if (!value->IsString()) return WrongType(key);
    *out = std::nan("");
    return {};
  }
  Status Fields(const char* key, std::optional<MetaFields>* out) const {
    const Json* value = Find(key);
    if (value == nullptr) return {};
    out->reset();
    if (value->IsNull()) return {};
    if (!value->IsObject()) return WrongType(key);
    out->emplace();
    for (const auto& field : value->GetObject()) {
      if (!field.value.IsString()) return WrongType(key);
      (*out)->emplace_back(Utf8(field.name), Utf8(field.value));
    }
    return {};
  }

 private:
  [[nodiscard]] const Json* Find(const char* key) const {
    const auto member = document_.FindMember(key);
    return member == document_.MemberEnd() ? nullptr : &member->value;
  }

  rapidjson::Document document_;
};

}  // namespace

std::string_view UidKindWord(UidKind kind) {
  return kind == UidKind::kMetric ? "METRIC" : kind == UidKind::kTagk ? "TAGK" : "TAGV";
}

std::string EncodeUidMeta(const UidMeta& meta) {
  ObjectWriter object;
  object.Text("type", std::string(UidKindWord(meta.kind)));
  object.Text("displayName", meta.display_name);
  object.Text("description", meta.description);
  object.Text("notes", meta.notes);
  object.Number("created", meta.created);
  object.Fields("custom", meta.custom);
  return object.Finish();
}

Status DecodeUidMeta(ByteView json, UidMeta* meta) {
  ObjectReader object;
  RETURN_IF_ERROR(object.Parse(json));
  RETURN_IF_ERROR(object.Text("displayName", &meta->display_name));
  RETURN_IF_ERROR(object.Text("description", &meta->description));
  RETURN_IF_ERROR(object.Text("notes", &meta->notes));
  RETURN_IF_ERROR(object.Number("created", &meta->created));
  return object.Fields("custom", &meta->custom);
}

std::string EncodeTsMeta(const TsMeta& meta) {
  ObjectWriter object;
  object.Text("tsuid", ToHexUpper(meta.tsuid));
  object.Text("displayName", meta.display_name);
  object.Text("description", meta.description);
  object.Text("notes", meta.notes);
  object.Number("created", meta.created);
  object.Fields("custom", meta.custom);
  object.Text("units", meta.units);
  object.Text("dataType", meta.data_type);
  object.Number("retention", meta.retention);
  object.Double("max", meta.max);
  object.Double("min", meta.min);
  return object.Finish();
}

Status DecodeTsMeta(ByteView json, TsMeta* meta) {
  ObjectReader object;
  RETURN_IF_ERROR(object.Parse(json));
  RETURN_IF_ERROR(object.Text("displayName", &meta->display_name));
  RETURN_IF_ERROR(object.Text("description", &meta->description));
  RETURN_IF_ERROR(object.Text("notes", &meta->notes));
  RETURN_IF_ERROR(object.Number("created", &meta->created));
  RETURN_IF_ERROR(object.Fields("custom", &meta->custom));
  RETURN_IF_ERROR(object.Text("units", &meta->units));
  RETURN_IF_ERROR(object.Text("dataType", &meta->data_type));
  RETURN_IF_ERROR(object.Number("retention", &meta->retention));
  RETURN_IF_ERROR(object.Double("max", &meta->max));
  return object.Double("min", &meta->min);
}

}  // namespace hg::uid
