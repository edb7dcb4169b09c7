#include "uid/metadata_json.h"

#include <cmath>

#include "storage/model/java_hash.h"
#include "storage/model/number_text.h"
#include "uid/json_object.h"

namespace hg::uid {
namespace {

void PutText(ObjectWriter* object, const char* key, const MetaText& text) {
  if (text) {
    object->Text(key, *text);
  } else {
    object->Null(key);
  }
}

/// Writes a double in Java's notation. Values that JSON numbers cannot represent are written as
/// text.
void PutDouble(ObjectWriter* object, const char* key, double number) {
  const std::string text = JavaDouble(number);
  if (std::isfinite(number)) {
    object->NumberText(key, text);
  } else {
    object->Text(key, text);
  }
}

void PutFields(ObjectWriter* object, const char* key, const std::optional<MetaFields>& fields) {
  if (!fields) {
    object->Null(key);
    return;
  }
  std::vector<uint32_t> hashes;
  for (const auto& field : *fields) hashes.push_back(JavaHashUtf8(field.first));
  object->Begin(key);
  for (size_t i : JavaMapOrder(hashes, Hash16Capacity(fields->size())))
    object->Text((*fields)[i].first, (*fields)[i].second);
  object->End();
}

// Unlike in other readers, a null member counts here: it means no text or no fields.

void GetText(ObjectReader* object, const char* key, MetaText* out) {
  const rapidjson::Value* value = object->Find(key);
  if (value == nullptr) return;
  out->reset();
  if (!value->IsNull()) object->Text(key, &out->emplace());
}

void GetDouble(ObjectReader* object, const char* key, double* out) {
  const rapidjson::Value* value = object->Find(key);
  if (value == nullptr || value->IsNull()) return;
  if (value->IsNumber()) {
    *out = value->GetDouble();
  } else if (value->IsString()) {
    const std::string_view text = value->GetString();
    *out = text == "Infinity" ? HUGE_VAL : text == "-Infinity" ? -HUGE_VAL : std::nan("");
  } else {
    object->Damaged(key);
  }
}

void GetFields(ObjectReader* object, const char* key, std::optional<MetaFields>* out) {
  const rapidjson::Value* value = object->Find(key);
  if (value == nullptr) return;
  out->reset();
  if (value->IsNull()) return;
  if (!value->IsObject()) {
    object->Damaged(key);
    return;
  }
  out->emplace();
  for (const auto& field : value->GetObject()) {
    if (!field.value.IsString()) {
      object->Damaged(key);
      return;
    }
    (*out)->emplace_back(Utf8(field.name), Utf8(field.value));
  }
}

// The members that both kinds of metadata have.

template <typename Meta>
void PutShared(ObjectWriter* object, const Meta& meta) {
  PutText(object, "displayName", meta.display_name);
  PutText(object, "description", meta.description);
  PutText(object, "notes", meta.notes);
  object->Number("created", meta.created);
  PutFields(object, "custom", meta.custom);
}

template <typename Meta>
void GetShared(ObjectReader* object, Meta* meta) {
  GetText(object, "displayName", &meta->display_name);
  GetText(object, "description", &meta->description);
  GetText(object, "notes", &meta->notes);
  object->Number("created", &meta->created);
  GetFields(object, "custom", &meta->custom);
}

}  // namespace

std::string_view UidKindWord(UidKind kind) {
  return kind == UidKind::kMetric ? "METRIC" : kind == UidKind::kTagk ? "TAGK" : "TAGV";
}

std::string EncodeUidMeta(const UidMeta& meta) {
  ObjectWriter object;
  object.Text("type", UidKindWord(meta.kind));
  PutShared(&object, meta);
  return object.Finish();
}

Status DecodeUidMeta(ByteView json, UidMeta* meta) {
  ObjectReader object("metadata", json);
  GetShared(&object, meta);
  return object.status();
}

std::string EncodeTsMeta(const TsMeta& meta) {
  ObjectWriter object;
  object.Text("tsuid", ToHexUpper(meta.tsuid));
  PutShared(&object, meta);
  PutText(&object, "units", meta.units);
  PutText(&object, "dataType", meta.data_type);
  object.Number("retention", meta.retention);
  PutDouble(&object, "max", meta.max);
  PutDouble(&object, "min", meta.min);
  return object.Finish();
}

Status DecodeTsMeta(ByteView json, TsMeta* meta) {
  ObjectReader object("metadata", json);
  GetShared(&object, meta);
  GetText(&object, "units", &meta->units);
  GetText(&object, "dataType", &meta->data_type);
  object.Number("retention", &meta->retention);
  GetDouble(&object, "max", &meta->max);
  GetDouble(&object, "min", &meta->min);
  return object.status();
}

}  // namespace hg::uid
