#include "http/wire/metadata_json.h"

#include "http/wire/json_value.h"
#include "storage/model/java_hash.h"
#include "storage/model/letter_case.h"
#include "uid/metadata_json.h"

namespace hg::http {
namespace {

// ---- Writing ----

void WriteText(std::string_view key, const uid::MetaText& text, JsonWriter* json) {
  json->Key(key);
  if (text) {
    json->String(*text);
  } else {
    json->Null();
  }
}

void WriteFields(const uid::MetaFields& fields, JsonWriter* json) {
  std::vector<uint32_t> hashes;
  for (const auto& field : fields) hashes.push_back(JavaHashUtf8(field.first));
  json->BeginObject();
  for (size_t i : JavaMapOrder(hashes, Hash16Capacity(fields.size())))
    json->Member(fields[i].first, fields[i].second);
  json->EndObject();
}

// ---- Reading ----

/// Reads a text. null is stored if the field allows it; otherwise null counts as absent.
Status ReadMetaText(const JsonValue& object, std::string_view key, uid::MetaText* out) {
  const JsonValue* value = object.Find(key);
  if (value == nullptr) return {};
  if (value->is_null()) {
    out->reset();
    return {};
  }
  if (!value->is_scalar()) return WrongMember(key, "a string");
  *out = value->text;
  return {};
}

Status ReadPlainText(const JsonValue& object, std::string_view key, std::string* out) {
  uid::MetaText text = std::string();
  RETURN_IF_ERROR(ReadMetaText(object, key, &text));
  *out = text.value_or("");
  return {};
}

Status ReadFields(const JsonValue& object, RequestContext& context,
                  std::optional<uid::MetaFields>* out) {
  const JsonValue* value = object.Find("custom");
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_object()) return WrongMember("custom", "an object");
  out->emplace();
  size_t bytes = 0;
  ASSIGN_OR_RETURN(const auto members, value->LastMembers(context));
  for (const JsonMember* member : members) {
    const auto& [key, field] = *member;
    if (!field.is_scalar() && !field.is_null())
      return WrongMember("custom", "an object of strings");
    (*out)->emplace_back(key, field.text);
    bytes += key.size() + field.text.size();
    if (bytes > uid::kObjectBytesMax) break;  // writers refuse it (uid::CheckTextSizes)
  }
  return {};
}

template <typename T>
Status ReadInt(const JsonValue& object, std::string_view key, T* out) {
  const JsonValue* value = object.Find(key);
  if (value == nullptr || value->is_null()) return {};
  const std::optional<int64_t> number = value->AsInt();
  if (!number || *number != static_cast<T>(*number)) return WrongMember(key, "a whole number");
  *out = static_cast<T>(*number);
  return {};
}

Status ReadDouble(const JsonValue& object, std::string_view key, double* out, bool* said) {
  const JsonValue* value = object.Find(key);
  if (value == nullptr || value->is_null()) return {};
  const std::optional<double> number = value->AsDouble();
  if (!number) return WrongMember(key, "a number or \"NaN\"");
  *out = *number;
  *said = true;
  return {};
}

}  // namespace

void WriteUidMeta(const uid::UidMeta& meta, JsonWriter* json) {
  json->BeginObject();
  json->Member("uid", ToHexUpper(meta.id));
  json->Member("type", uid::UidKindWord(meta.kind));
  json->Member("name", meta.name);
  WriteText("description", meta.description, json);
  WriteText("notes", meta.notes, json);
  json->Member("created", meta.created);
  json->Key("custom");
  if (meta.custom) {
    WriteFields(*meta.custom, json);
  } else {
    json->Null();
  }
  WriteText("displayName", meta.display_name, json);
  json->EndObject();
}

void WriteTsMeta(const uid::TsMeta& meta, JsonWriter* json) {
  json->BeginObject();
  json->Member("tsuid", ToHexUpper(meta.tsuid));
  json->Key("metric");
  WriteUidMeta(meta.metric, json);
  json->Key("tags");
  json->BeginArray();
  for (const uid::UidMeta& tag : meta.tags) WriteUidMeta(tag, json);
  json->EndArray();
  const auto text = [json](std::string_view key, const auto& value) {
    if (value) WriteText(key, value, json);  // omits null values, unlike UID metadata
  };
  text("description", meta.description);
  text("notes", meta.notes);
  json->Member("created", meta.created);
  if (meta.custom) {
    json->Key("custom");
    WriteFields(*meta.custom, json);
  }
  text("units", meta.units);
  json->Member("retention", meta.retention);
  json->Member("max", meta.max);
  json->Member("min", meta.min);
  text("displayName", meta.display_name);
  text("dataType", meta.data_type);
  json->Member("lastReceived", meta.last_received);
  json->Member("totalDatapoints", meta.total_points);
  json->EndObject();
}

std::optional<UidKind> ParseUidKind(std::string_view word) {
  const std::string lower = LowerCase(word);
  if (lower == "metric" || lower == "metrics") return UidKind::kMetric;
  if (lower == "tagk") return UidKind::kTagk;
  if (lower == "tagv") return UidKind::kTagv;
  return {};
}

Result<UidMetaRequest> ReadUidMeta(const JsonValue& value, RequestContext& context) {
  if (!value.is_object()) return Status::InvalidArgument("An object is expected");
  UidMetaRequest request;
  std::string type;
  RETURN_IF_ERROR(ReadPlainText(value, "uid", &request.id));
  RETURN_IF_ERROR(ReadPlainText(value, "type", &type));
  request.kind = ParseUidKind(type);
  if (!type.empty() && !request.kind)
    return Status::InvalidArgument("Invalid type requested: " + type);
  RETURN_IF_ERROR(ReadMetaText(value, "displayName", &request.fields.display_name));
  RETURN_IF_ERROR(ReadMetaText(value, "description", &request.fields.description));
  RETURN_IF_ERROR(ReadMetaText(value, "notes", &request.fields.notes));
  RETURN_IF_ERROR(ReadInt(value, "created", &request.fields.created));
  RETURN_IF_ERROR(ReadFields(value, context, &request.fields.custom));
  return request;
}

Result<TsMetaRequest> ReadTsMeta(JsonValue document, RequestContext& context) {
  const JsonValue value = ObjectOfOne(std::move(document), JsonValue::Kind::kString, "tsuid");
  if (!value.is_object()) return Status::InvalidArgument("An object is expected");
  TsMetaRequest request;
  uid::TsMeta& fields = request.fields;
  RETURN_IF_ERROR(ReadPlainText(value, "tsuid", &request.tsuid));
  RETURN_IF_ERROR(ReadMetaText(value, "displayName", &fields.display_name));
  RETURN_IF_ERROR(ReadMetaText(value, "description", &fields.description));
  RETURN_IF_ERROR(ReadMetaText(value, "notes", &fields.notes));
  RETURN_IF_ERROR(ReadInt(value, "created", &fields.created));
  RETURN_IF_ERROR(ReadFields(value, context, &fields.custom));
  RETURN_IF_ERROR(ReadMetaText(value, "units", &fields.units));
  RETURN_IF_ERROR(ReadMetaText(value, "dataType", &fields.data_type));
  RETURN_IF_ERROR(ReadInt(value, "retention", &fields.retention));
  RETURN_IF_ERROR(ReadDouble(value, "max", &fields.max, &fields.max_said));
  RETURN_IF_ERROR(ReadDouble(value, "min", &fields.min, &fields.min_said));
  return request;
}

}  // namespace hg::http
