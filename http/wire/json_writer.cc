#include "http/wire/json_writer.h"

#include <charconv>
#include <cmath>

#include "http/response_writer.h"
#include "storage/base/number_text.h"

namespace hg::http {
namespace {

void AppendEscaped(unsigned char c, std::string* out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  switch (c) {
    case '"':
      out->append("\\\"");
      return;
    case '\\':
      out->append("\\\\");
      return;
    case '\b':
      out->append("\\b");
      return;
    case '\f':
      out->append("\\f");
      return;
    case '\n':
      out->append("\\n");
      return;
    case '\r':
      out->append("\\r");
      return;
    case '\t':
      out->append("\\t");
      return;
    default:
      out->append("\\u00");
      out->push_back(kHex[c >> 4]);
      out->push_back(kHex[c & 15]);
  }
}

void AppendInt(int64_t value, std::string* out) {
  char text[24];
  auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  out->append(text, end);
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  size_t done = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out->append(text.substr(done, i - done));
    AppendEscaped(c, out);
    done = i + 1;
  }
  out->append(text.substr(done));
  out->push_back('"');
}

void JsonWriter::Open(char bracket) {
  Comma();
  out_.push_back(bracket);
  comma_ = false;
}

void JsonWriter::Close(char bracket) {
  out_.push_back(bracket);
  comma_ = true;
  AfterValue();
}

void JsonWriter::Key(std::string_view name) {
  Comma();
  AppendJsonString(name, &out_);
  out_.push_back(':');
  comma_ = false;
}

void JsonWriter::Key(int64_t number) {
  Comma();
  out_.push_back('"');
  AppendInt(number, &out_);
  out_.append("\":");
  comma_ = false;
}

void JsonWriter::String(std::string_view text) {
  Comma();
  AppendJsonString(text, &out_);
  AfterValue();
}

void JsonWriter::Int(int64_t value) {
  Comma();
  AppendInt(value, &out_);
  AfterValue();
}

void JsonWriter::Double(double value) {
  Comma();
  const bool quoted = !std::isfinite(value);
  if (quoted) out_.push_back('"');
  AppendDoubleText(value, &out_);
  if (quoted) out_.push_back('"');
  AfterValue();
}

void JsonWriter::Float(float value) {
  Comma();
  const bool quoted = !std::isfinite(value);
  if (quoted) out_.push_back('"');
  AppendFloatText(value, &out_);
  if (quoted) out_.push_back('"');
  AfterValue();
}

void JsonWriter::Bool(bool value) { Raw(value ? "true" : "false"); }

void JsonWriter::Raw(std::string_view json) {
  Comma();
  out_.append(json);
  AfterValue();
}

bool JsonWriter::Finish() {
  if (response_ == nullptr || out_.empty()) return alive_;
  if (alive_) alive_ = response_->Write(out_);
  out_.clear();
  return alive_;
}

}  // namespace hg::http
