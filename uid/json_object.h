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

/// Reads one object. `what` names it in errors, which are all Corruption: it is stored data. The
/// first error stays, and what comes after it reads nothing. Members that are absent or null leave
/// their targets alone.
class ObjectReader {
 public:
  ObjectReader(std::string what, ByteView json);

  [[nodiscard]] const Status& status() const { return status_; }

  ObjectReader& Text(const char* key, std::string* out) { return Text(document_, key, out); }
  /// The same of a nested object.
  ObjectReader& Text(const rapidjson::Value& object, const char* key, std::string* out);
  ObjectReader& Flag(const char* key, bool* out);
  template <typename T>
  ObjectReader& Number(const char* key, T* out) {
    const rapidjson::Value* value = Said(document_, key);
    if (value == nullptr) return *this;
    if (!value->IsInt64()) return Damaged(key);
    *out = static_cast<T>(value->GetInt64());
    return *this;
  }

  /// A member, null or not, as long as the reader lives. None, or there was an error: nullptr.
  [[nodiscard]] const rapidjson::Value* Find(const char* key) const { return Find(document_, key); }
  /// That a member is not of its form: the first such error stays.
  ObjectReader& Damaged(const char* key);

 private:
  [[nodiscard]] const rapidjson::Value* Find(const rapidjson::Value& object, const char* key) const;
  /// The same, null being none.
  [[nodiscard]] const rapidjson::Value* Said(const rapidjson::Value& object, const char* key) const;

  std::string what_;
  rapidjson::Document document_;
  Status status_;
};

/// A text value as UTF-8: what is none, such as half of a surrogate pair, becomes the replacement
/// character.
std::string Utf8(const rapidjson::Value& text);

}  // namespace hg::uid
