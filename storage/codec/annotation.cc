#include "storage/codec/annotation.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "storage/codec/cell_class.h"
#include "storage/model/java_hash.h"
#include "storage/model/timestamp.h"
#include "storage/model/utf8.h"

namespace hg::codec {
namespace {

using Json = rapidjson::Value;
using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

void Write(JsonWriter* writer, std::string_view text) {
  writer->String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

Status WrongType(const char* field) {
  return Status::Corruption(std::string("annotation: field ") + field + " has a wrong type");
}

/// Returns the text of a JSON string. Single surrogates, which JSON escapes can produce, become the
/// replacement character.
std::string TextOf(const Json& value) {
  std::string text(value.GetString(), value.GetStringLength());
  ReplaceInvalidUtf8(&text);
  return text;
}

Status ReadText(const Json& object, const char* field, std::string* out) {
  const auto member = object.FindMember(field);
  if (member == object.MemberEnd() || member->value.IsNull()) return Status::Ok();
  if (!member->value.IsString()) return WrongType(field);
  *out = TextOf(member->value);
  return Status::Ok();
}

Status ReadNumber(const Json& object, const char* field, int64_t* out) {
  const auto member = object.FindMember(field);
  if (member == object.MemberEnd() || member->value.IsNull()) return Status::Ok();
  if (!member->value.IsInt64()) return WrongType(field);
  *out = member->value.GetInt64();
  return Status::Ok();
}

Status ReadCustom(const Json& object, std::optional<Annotation::Custom>* out) {
  const auto member = object.FindMember("custom");
  if (member == object.MemberEnd() || member->value.IsNull()) return Status::Ok();
  if (!member->value.IsObject()) return WrongType("custom");
  out->emplace();
  for (const auto& entry : member->value.GetObject()) {
    if (!entry.value.IsString()) return WrongType("custom");
    (**out)[TextOf(entry.name)] = TextOf(entry.value);
  }
  return Status::Ok();
}

}  // namespace

bool JavaOrder::operator()(const std::string& a, const std::string& b) const {
  return JavaLess(a, b);
}

AnnotationPlace PlaceAnnotation(int64_t start_time) {
  const Timestamp folded{start_time % 1000 == 0 ? start_time / 1000 : start_time};
  AnnotationPlace place;
  place.base = Timestamp{start_time}.base();
  place.qualifier.push_back(kAnnotationPrefix);
  const int64_t offset_s = folded.seconds() % kRowSpan;
  if (folded.is_millis()) {
    AppendBig(&place.qualifier, static_cast<uint64_t>(offset_s * 1000 + folded.raw % 1000), 4);
  } else {
    AppendBig(&place.qualifier, static_cast<uint64_t>(offset_s), 2);
  }
  return place;
}

uint32_t ObjectOffsetMs(ByteView qualifier) {
  const ByteView offset = qualifier.substr(1);
  return offset.size() == 2 ? ReadBig16(offset.data()) * 1000u : ReadBig32(offset.data());
}

std::string EncodeAnnotation(const Annotation& annotation) {
  rapidjson::StringBuffer buffer;
  JsonWriter writer(buffer);
  writer.StartObject();
  if (!annotation.tsuid.empty()) {
    writer.Key("tsuid");
    Write(&writer, annotation.tsuid);
  }
  writer.Key("startTime");
  writer.Int64(annotation.start_time);
  writer.Key("endTime");
  writer.Int64(annotation.end_time);
  writer.Key("description");
  Write(&writer, annotation.description);
  writer.Key("notes");
  Write(&writer, annotation.notes);
  writer.Key("custom");
  if (annotation.custom) {
    writer.StartObject();
    for (const auto& [key, value] : *annotation.custom) {
      Write(&writer, key);
      Write(&writer, value);
    }
    writer.EndObject();
  } else {
    writer.Null();
  }
  writer.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

Result<Annotation> DecodeAnnotation(ByteView json) {
  rapidjson::Document document;
  // The parser is iterative, so deep nesting in an unknown field cannot exhaust the stack.
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      json.data(), json.size());
  if (document.HasParseError()) {
    return Status::Corruption(std::string("annotation: ") +
                              rapidjson::GetParseError_En(document.GetParseError()) + " At byte " +
                              std::to_string(document.GetErrorOffset()));
  }
  if (!document.IsObject()) return Status::Corruption("annotation: not a JSON object");
  Annotation annotation;
  RETURN_IF_ERROR(ReadText(document, "tsuid", &annotation.tsuid));
  RETURN_IF_ERROR(ReadNumber(document, "startTime", &annotation.start_time));
  RETURN_IF_ERROR(ReadNumber(document, "endTime", &annotation.end_time));
  RETURN_IF_ERROR(ReadText(document, "description", &annotation.description));
  RETURN_IF_ERROR(ReadText(document, "notes", &annotation.notes));
  RETURN_IF_ERROR(ReadCustom(document, &annotation.custom));
  return annotation;
}

bool HasAnnotationChanges(const Annotation& request) {
  return request.end_time != 0 || !request.description.empty() || !request.notes.empty() ||
         request.custom.has_value();
}

Annotation MergeAnnotation(const Annotation& request, const Annotation& stored, bool replace) {
  Annotation merged = request;
  if (stored.start_time > 0 &&
      (stored.start_time < request.start_time || request.start_time == 0)) {
    merged.start_time = stored.start_time;
  }
  if (replace) return merged;
  if (request.end_time == 0) merged.end_time = stored.end_time;
  if (request.description.empty()) merged.description = stored.description;
  if (request.notes.empty()) merged.notes = stored.notes;
  if (!request.custom) merged.custom = stored.custom;
  return merged;
}

}  // namespace hg::codec
