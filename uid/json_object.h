#pragma once
// Reads and writes the JSON objects in the cells of metadata and trees. The writer writes members
// in the order of the calls, and the reader finds members by name. Only .cc files in uid/ include
// this header, so that no other header includes RapidJSON.

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string>
#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::uid {

/// Writes one JSON object. Keys and texts are copied.
class ObjectWriter {
 public:
  ObjectWriter() { writer_.StartObject(); }

  ObjectWriter& Text(std::string_view key, std::string_view text);
  ObjectWriter& Null(std::string_view key);
  ObjectWriter& Number(std::string_view key, int64_t number);
  ObjectWriter& Flag(std::string_view key, bool flag);
  /// Writes a number that is given as text. The text must be a valid JSON number.
  ObjectWriter& NumberText(std::string_view key, std::string_view text);
  /// Starts a nested object. All members belong to the nested object until End is called.
  ObjectWriter& Begin(std::string_view key);
  ObjectWriter& End();
  /// Ends the object and returns its JSON text. Call this function once, after all members were
  /// written.
  std::string Finish();

 private:
  void Key(std::string_view key);

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

/// Reads the members of one JSON object from storage. Error messages use `what` as the name of the
/// object. All errors are Corruption, because the object comes from storage. After the first error,
/// the reader reads nothing more, and status() returns this error. If a member is missing or null,
/// the variable for the member is not changed.
class ObjectReader {
 public:
  ObjectReader(std::string what, ByteView json);

  [[nodiscard]] const Status& status() const { return status_; }

  ObjectReader& Text(const char* key, std::string* out) { return Text(document_, key, out); }
  /// Reads the text member `key` of the nested object `object`.
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

  /// Returns the value of a member, which may be null in JSON. Returns nullptr if the object has no
  /// such member, or after an error. The pointer is valid as long as the reader exists.
  [[nodiscard]] const rapidjson::Value* Find(const char* key) const { return Find(document_, key); }
  /// Records the error that the member `key` is malformed. Only the first error is kept.
  ObjectReader& Damaged(const char* key);

 private:
  [[nodiscard]] const rapidjson::Value* Find(const rapidjson::Value& object, const char* key) const;
  /// Returns the value of a member as Find does, but returns nullptr if the value is null in JSON.
  [[nodiscard]] const rapidjson::Value* Said(const rapidjson::Value& object, const char* key) const;

  std::string what_;
  rapidjson::Document document_;
  Status status_;
};

/// Returns a JSON string as UTF-8. Invalid parts, such as half of a surrogate pair, are replaced by
/// the character U+FFFD.
std::string Utf8(const rapidjson::Value& text);

}  // namespace hg::uid
