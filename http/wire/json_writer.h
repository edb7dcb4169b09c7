#pragma once
// Writes one compact JSON document piece by piece, with the escapes and number formats of
// opentsdb-http-api.md §5 and appendix B. The output is either a string or a ResponseWriter. A
// ResponseWriter gets the document through a buffer, so a large response needs little memory.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hg::http {

class ResponseWriter;

/// Writes one JSON document. Only one thread at a time may use the writer. The writer adds commas;
/// the caller must ensure that the nesting is correct.
class JsonWriter {
 public:
  /// The writer appends the document to *out, which must outlive the writer.
  explicit JsonWriter(std::string* out) : out_(*out) {}
  /// The writer passes pieces of about kPieceBytes to `response`, which must outlive the writer.
  /// Call Finish to pass the last piece.
  explicit JsonWriter(ResponseWriter* response) : out_(buffer_), response_(response) {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }

  void Key(std::string_view name);
  /// Writes a key that is a decimal number.
  void Key(int64_t number);

  void String(std::string_view text);
  void Int(int64_t value);
  /// Writes a number. NaN, Infinity and -Infinity are written as strings.
  void Double(double value);
  void Float(float value);
  void Bool(bool value);
  void Null() { Raw("null"); }
  /// Writes a value. `json` must already be JSON text.
  void Raw(std::string_view json);

  // Each of the following functions writes a key and a value.
  void TextOrNull(std::string_view key, const std::optional<std::string>& value) {
    Key(key);
    value ? String(*value) : Null();
  }
  void Member(std::string_view key, std::string_view value) { Key(key), String(value); }
  void Member(std::string_view key, const char* value) { Key(key), String(value); }
  void Member(std::string_view key, bool value) { Key(key), Bool(value); }
  void Member(std::string_view key, int64_t value) { Key(key), Int(value); }
  void Member(std::string_view key, int value) { Key(key), Int(value); }
  void Member(std::string_view key, double value) { Key(key), Double(value); }

  /// Writes bytes that are not part of the JSON document, such as a jsonp callback. Adds no comma.
  void Text(std::string_view bytes) { out_.append(bytes); }

  /// Passes the buffered bytes to the response. Returns false if the client has disconnected.
  bool Finish();
  /// Returns false after the client has disconnected. Callers should then stop long work.
  [[nodiscard]] bool alive() const { return alive_; }

 private:
  static constexpr size_t kPieceBytes = 32 * 1024;

  void Open(char bracket);
  void Close(char bracket);
  void Comma() {
    if (comma_) out_.push_back(',');
    comma_ = true;
  }
  void AfterValue() {
    if (response_ != nullptr && out_.size() >= kPieceBytes) Finish();
  }

  std::string buffer_;
  std::string& out_;
  ResponseWriter* response_ = nullptr;
  bool comma_ = false;  // whether a comma is needed before the next value
  bool alive_ = true;
};

}  // namespace hg::http
