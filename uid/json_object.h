#pragma once
// The JSON objects that uid keeps in cells (metadata, trees): members written in the order given,
// read by name. For the .cc files of this folder only, so that RapidJSON stays out of its headers.

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string>
#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::uid {

/// Writes one object. Keys and texts are copied.
class ObjectWriter {
 public:
  ObjectWriter() { writer_.StartObject(); }

  ObjectWriter& Text(std::string_view key, std::string_view text);
  ObjectWriter& Null(std::string_view key);
  ObjectWriter& Number(std::string_view key, int64_t number);
  ObjectWriter& Flag(std::string_view key, bool flag);
  /// A number in the notation given, which must be JSON's.
  ObjectWriter& NumberText(std::string_view key, std::string_view text);
  /// What is written up to End becomes an object of its own.
  ObjectWriter& Begin(std::string_view key);
  ObjectWriter& End();
  /// The whole object; to be called once, at last.
  std::string Finish();

 private:
  void Key(std::string_view key);

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

/// Reads one object. `what` names it in errors, which are all Corruption: it is stored data.
/// Members that are absent or null leave their targets alone.
class ObjectReader {
 public:
  explicit ObjectReader(std::string what) : what_(std::move(what)) {}

  /// The document lives as long as the reader.
  Status Parse(ByteView json);

  Status Text(const char* key, std::string* out) const { return Text(document_, key, out); }
  /// The same of a nested object.
  Status Text(const rapidjson::Value& object, const char* key, std::string* out) const;
  Status Flag(const char* key, bool* out) const;
  template <typename T>
  Status Number(const char* key, T* out) const {
    const rapidjson::Value* value = Find(key);
    if (value == nullptr || value->IsNull()) return {};
    if (!value->IsInt64()) return Damaged(key);
    *out = static_cast<T>(value->GetInt64());
    return {};
  }

  /// A member, null or not; none: nullptr.
  [[nodiscard]] const rapidjson::Value* Find(const char* key) const { return Find(document_, key); }
  [[nodiscard]] Status Damaged(const char* key) const;

 private:
  static const rapidjson::Value* Find(const rapidjson::Value& object, const char* key);

  std::string what_;
  rapidjson::Document document_;
};

/// A text value as UTF-8: what is none, such as half of a surrogate pair, becomes the replacement
/// character.
std::string Utf8(const rapidjson::Value& text);

}  // namespace hg::uid
