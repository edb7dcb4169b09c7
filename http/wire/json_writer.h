#pragma once
// Writes one JSON document piece by piece, compact, with the escapes and number texts of spec
// http-api.md §5 and appendix B. Either into a string, or through a buffer into a ResponseWriter,
// so that an answer of any size needs a bounded amount of memory.

#include <cstdint>
#include <string>
#include <string_view>

namespace hg::http {

class ResponseWriter;

/// One thread at a time. The caller keeps the nesting right: nothing is checked but where commas
/// go.
class JsonWriter {
 public:
  /// Appends to *out, which outlives the writer.
  explicit JsonWriter(std::string* out) : out_(*out) {}
  /// Hands pieces of about kPieceBytes to `response`, which outlives the writer; Finish hands over
  /// the rest.
  explicit JsonWriter(ResponseWriter* response) : out_(buffer_), response_(response) {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }

  void Key(std::string_view name);
  /// A key that is a decimal number.
  void Key(int64_t number);

  void String(std::string_view text);
  void Int(int64_t value);
  /// "NaN", "Infinity" and "-Infinity" go out as strings.
  void Double(double value);
  void Float(float value);
  void Bool(bool value);
  void Null() { Raw("null"); }
  /// A whole value that is JSON already.
  void Raw(std::string_view json);

  // Members of an object in one call.
  void Member(std::string_view key, std::string_view value) { Key(key), String(value); }
  void Member(std::string_view key, const char* value) { Key(key), String(value); }
  void Member(std::string_view key, bool value) { Key(key), Bool(value); }
  void Member(std::string_view key, int64_t value) { Key(key), Int(value); }
  void Member(std::string_view key, int value) { Key(key), Int(value); }
  void Member(std::string_view key, double value) { Key(key), Double(value); }

  /// Bytes before, between or after values, such as a jsonp callback; no comma is added.
  void Text(std::string_view bytes) { out_.append(bytes); }

  /// Hands over what is buffered. False: the client is gone.
  bool Finish();
  /// False once the client was found to be gone: long work should stop.
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
  bool comma_ = false;  // a value stands before the next one
  bool alive_ = true;
};

}  // namespace hg::http
