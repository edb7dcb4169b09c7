#include "http/wire/annotation_json.h"

#include <vector>

#include "storage/model/java_hash.h"
#include "uid/annotations.h"

namespace hg::http {
namespace {

Status ReadText(const JsonValue& object, std::string_view name, std::string* out) {
  const JsonValue* value = object.Find(name);
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_scalar())
    return Status::InvalidArgument("\"" + std::string(name) + "\" must be a string");
  *out = value->text;
  return {};
}

Status ReadTime(const JsonValue& object, std::string_view name, int64_t* out) {
  const JsonValue* value = object.Find(name);
  if (value == nullptr || value->is_null()) return {};
  const std::optional<int64_t> number = value->AsInt();
  if (!number) {
    return Status::InvalidArgument(
        "\"" + std::string(name) + "\" must be a whole number of seconds or milliseconds, not " +
        (value->is_scalar() ? "\"" + value->text + "\"" : "a structure"));
  }
  *out = *number;
  return {};
}

Status ReadCustom(const JsonValue& object, std::optional<codec::Annotation::Custom>* out) {
  const JsonValue* value = object.Find("custom");
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_object()) return Status::InvalidArgument("\"custom\" must be an object");
  out->emplace();
  size_t bytes = 0;
  for (const auto& [key, field] : value->members) {
    if (!field.is_scalar() && !field.is_null())
      return Status::InvalidArgument("\"custom\" must hold strings, but \"" + key +
                                     "\" is a structure");
    (**out)[key] = field.text;
    bytes += key.size() + field.text.size();
    if (bytes > uid::kAnnotationBytesMax) break;  // Annotations::Write refuses it
  }
  return {};
}

}  // namespace

void WriteAnnotation(const codec::Annotation& annotation, JsonWriter* json) {
  json->BeginObject();
  json->Member("tsuid", annotation.tsuid);
  json->Member("description", annotation.description);
  json->Member("notes", annotation.notes);
  if (annotation.custom) {
    std::vector<std::pair<std::string_view, std::string_view>> fields(annotation.custom->begin(),
                                                                      annotation.custom->end());
    std::vector<uint32_t> hashes;
    for (const auto& field : fields) hashes.push_back(JavaHashUtf8(field.first));
    json->Key("custom");
    json->BeginObject();
    for (size_t i : JavaMapOrder(hashes, Hash16Capacity(fields.size())))
      json->Member(fields[i].first, fields[i].second);
    json->EndObject();
  }
  json->Member("startTime", annotation.start_time);
  json->Member("endTime", annotation.end_time);
  json->EndObject();
}

Result<codec::Annotation> ReadAnnotation(const JsonValue& value) {
  if (!value.is_object()) return Status::InvalidArgument("An annotation must be a JSON object");
  codec::Annotation annotation;
  RETURN_IF_ERROR(ReadText(value, "tsuid", &annotation.tsuid));
  RETURN_IF_ERROR(ReadTime(value, "startTime", &annotation.start_time));
  RETURN_IF_ERROR(ReadTime(value, "endTime", &annotation.end_time));
  RETURN_IF_ERROR(ReadText(value, "description", &annotation.description));
  RETURN_IF_ERROR(ReadText(value, "notes", &annotation.notes));
  RETURN_IF_ERROR(ReadCustom(value, &annotation.custom));
  return annotation;
}

}  // namespace hg::http
