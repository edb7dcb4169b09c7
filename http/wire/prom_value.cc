#include "http/wire/prom_value.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "query/promql/number_text.h"

namespace hg::http {
namespace {

namespace promql = query::promql;
using promql::Value;
using promql::ValueType;

void AppendSeconds(int64_t ms, std::string* out) {
  if (ms < 0) out->push_back('-');
  const int64_t size = ms < 0 ? -ms : ms;
  char text[24];
  out->append(text, std::to_chars(text, text + sizeof(text), size / 1000).ptr);
  if (size % 1000 == 0) return;
  const auto fraction = static_cast<int>(size % 1000);
  out->push_back('.');
  for (const int digit : {fraction / 100, fraction / 10 % 10, fraction % 10})
    out->push_back(static_cast<char>('0' + digit));
}

/// Prints samples. Reuses its buffer for all of them.
class SamplePrinter {
 public:
  explicit SamplePrinter(JsonWriter* json) : json_(*json) {}

  /// Writes [1435781430.781,"1"].
  void Write(int64_t time_ms, double value) {
    text_ = "[";
    AppendSeconds(time_ms, &text_);
    text_ += ",\"";
    promql::AppendAnswerText(value, &text_);
    text_ += "\"]";
    json_.Raw(text_);
  }

 private:
  JsonWriter& json_;
  std::string text_;
};

void BeginResult(std::string_view type, JsonWriter* json) {
  json->BeginObject();
  json->Member("resultType", type);
  json->Key("result");
}

void WriteVector(const Value& value, int64_t time_ms, JsonWriter* json) {
  BeginResult("vector", json);
  json->BeginArray();
  SamplePrinter printer(json);
  for (const promql::VectorSeries& series : value.vector) {
    if (promql::IsAbsent(series.values[0]) || !json->alive()) continue;
    json->BeginObject();
    json->Key("metric");
    WriteLabels(series.labels, json);
    json->Key("value");
    printer.Write(time_ms, series.values[0]);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

/// Writes one series of a matrix; `write` prints its samples.
template <typename Write>
void WriteSamples(const promql::Labels& labels, JsonWriter* json, Write write) {
  if (!json->alive()) return;
  json->BeginObject();
  json->Key("metric");
  WriteLabels(labels, json);
  json->Key("values");
  json->BeginArray();
  write();
  json->EndArray();
  json->EndObject();
}

void WriteColumn(const promql::Labels& labels, const promql::Column& column,
                 const promql::Steps& steps, JsonWriter* json) {
  if (std::all_of(column.begin(), column.end(), promql::IsAbsent)) return;
  WriteSamples(labels, json, [&] {
    SamplePrinter printer(json);
    for (size_t i = 0; i < column.size() && json->alive(); ++i) {
      if (!promql::IsAbsent(column[i])) printer.Write(steps.At(i), column[i]);
    }
  });
}

void WriteMatrix(const Value& value, JsonWriter* json) {
  BeginResult("matrix", json);
  json->BeginArray();
  for (const promql::RangeSeries& series : value.matrix) {
    WriteSamples(series.labels, json, [&] {
      SamplePrinter printer(json);
      for (size_t i = 0; i < series.values.size() && json->alive(); ++i)
        printer.Write(series.times_ms[i], series.values[i]);
    });
  }
  json->EndArray();
  json->EndObject();
}

}  // namespace

void WriteLabels(const promql::Labels& labels, JsonWriter* json) {
  json->BeginObject();
  for (const auto& [name, value] : labels.pairs()) json->Member(name, std::string_view(value));
  json->EndObject();
}

void WriteInstant(const Value& value, int64_t time_ms, JsonWriter* json) {
  switch (value.type) {
    case ValueType::kVector:
      return WriteVector(value, time_ms, json);
    case ValueType::kMatrix:
      return WriteMatrix(value, json);
    case ValueType::kScalar:
      BeginResult("scalar", json);
      SamplePrinter(json).Write(time_ms, value.scalar[0]);
      json->EndObject();
      return;
    case ValueType::kString: {
      std::string seconds;
      AppendSeconds(time_ms, &seconds);
      BeginResult("string", json);
      json->BeginArray();
      json->Raw(seconds);
      json->String(value.text);
      json->EndArray();
      json->EndObject();
      return;
    }
  }
}

void WriteRange(const Value& value, const promql::Steps& steps, JsonWriter* json) {
  BeginResult("matrix", json);
  json->BeginArray();
  if (value.type == ValueType::kScalar) WriteColumn({}, value.scalar, steps, json);
  for (const promql::VectorSeries& series : value.vector)
    WriteColumn(series.labels, series.values, steps, json);
  json->EndArray();
  json->EndObject();
}

}  // namespace hg::http
