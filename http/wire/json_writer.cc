#include "http/wire/json_writer.h"

#include <charconv>
#include <cmath>

#include "http/request/response_writer.h"
#include "http/wire/json_text.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

// Writes the digits in place. If the digits were copied from a buffer, the processor would wait for
// its own recent stores.
void AppendInt(int64_t value, std::string* out) {
  constexpr size_t kBytesMax = 24;
  const size_t at = out->size();
  out->resize(at + kBytesMax);
  char* const end = std::to_chars(out->data() + at, out->data() + at + kBytesMax, value).ptr;
  out->resize(static_cast<size_t>(end - out->data()));
}

}  // namespace

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
  AppendJsonString(&out_, name);
  out_.push_back(':');
  comma_ = false;
}

void JsonWriter::Key(int64_t number) {
  constexpr size_t kBytesMax = 24;  // comma, quotes, sign, 19 digits, colon
  const size_t at = out_.size();
  out_.resize(at + kBytesMax);
  char* to = out_.data() + at;
  if (comma_) *to++ = ',';
  *to++ = '"';
  to = std::to_chars(to, out_.data() + at + kBytesMax, number).ptr;
  *to++ = '"';
  *to++ = ':';
  out_.resize(static_cast<size_t>(to - out_.data()));
  comma_ = false;
}

void JsonWriter::String(std::string_view text) {
  Comma();
  AppendJsonString(&out_, text);
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
  AppendJavaDouble(&out_, value);
  if (quoted) out_.push_back('"');
  AfterValue();
}

void JsonWriter::Float(float value) {
  Comma();
  const bool quoted = !std::isfinite(value);
  if (quoted) out_.push_back('"');
  AppendJavaFloat(&out_, value);
  if (quoted) out_.push_back('"');
  AfterValue();
}

void JsonWriter::Bool(bool value) { Raw(value ? "true" : "false"); }

void JsonWriter::Raw(std::string_view json) {
  Comma();
  if (response_ != nullptr && json.size() >= kPieceBytes) {
    if (Finish()) alive_ = response_->Write(json);
    return;
  }
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
