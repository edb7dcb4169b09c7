#include "http/wire/otlp_attribute.h"

#include <otlp.pb.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "http/wire/base64.h"
#include "http/wire/json_writer.h"

namespace hg::http {
namespace {

void WriteJson(const otlp::AnyValue& value, JsonWriter* json) {
  switch (value.value_case()) {
    case otlp::AnyValue::kArrayValue:
      json->BeginArray();
      for (const otlp::AnyValue& item : value.array_value().values()) WriteJson(item, json);
      return json->EndArray();
    case otlp::AnyValue::kKvlistValue:
      json->BeginObject();
      for (const otlp::KeyValue& member : value.kvlist_value().values()) {
        json->Key(member.key());
        WriteJson(member.value(), json);
      }
      return json->EndObject();
    case otlp::AnyValue::kStringValue:
    case otlp::AnyValue::kBytesValue:
      return json->String(AttributeText(value));
    case otlp::AnyValue::kDoubleValue:
      if (!std::isfinite(value.double_value())) return json->String(AttributeText(value));
      [[fallthrough]];
    case otlp::AnyValue::kBoolValue:
    case otlp::AnyValue::kIntValue:
      return json->Raw(AttributeText(value));
    case otlp::AnyValue::VALUE_NOT_SET:
      return json->Null();
  }
}

}  // namespace

std::string NumberText(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), number, std::chars_format::general).ptr;
  return {text, end};
}

std::string AttributeText(const otlp::AnyValue& value) {
  switch (value.value_case()) {
    case otlp::AnyValue::kStringValue:
      return value.string_value();
    case otlp::AnyValue::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case otlp::AnyValue::kIntValue:
      return std::to_string(value.int_value());
    case otlp::AnyValue::kDoubleValue:
      return NumberText(value.double_value());
    case otlp::AnyValue::kBytesValue:
      return ToBase64(value.bytes_value());
    case otlp::AnyValue::kArrayValue:
    case otlp::AnyValue::kKvlistValue: {
      std::string text;
      JsonWriter json(&text);
      WriteJson(value, &json);
      return text;
    }
    case otlp::AnyValue::VALUE_NOT_SET:
      break;
  }
  return {};
}

}  // namespace hg::http
