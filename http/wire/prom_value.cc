#include "http/wire/prom_value.h"

#include <algorithm>
#include <string>
#include <vector>

#include "query/promql/number_text.h"

namespace hg::http {
namespace {

namespace promql = query::promql;
using promql::Value;
using promql::ValueType;

std::string SecondsText(int64_t ms) {
  std::string text = ms < 0 ? "-" : "";
  const int64_t size = ms < 0 ? -ms : ms;
  text += std::to_string(size / 1000);
  if (size % 1000 != 0) text += "." + std::to_string(1000 + size % 1000).substr(1);
  return text;
}

/// [1435781430.781,"1"]
void WriteSample(int64_t time_ms, double value, JsonWriter* json) {
  std::string text = "[" + SecondsText(time_ms) + ",\"";
  promql::AppendAnswerText(value, &text);
  json->Raw(text + "\"]");
}

void BeginResult(std::string_view type, JsonWriter* json) {
  json->BeginObject();
  json->Member("resultType", type);
  json->Key("result");
}

void WriteVector(const Value& value, int64_t time_ms, JsonWriter* json) {
  BeginResult("vector", json);
  json->BeginArray();
  for (const promql::VectorSeries& series : value.vector) {
    if (promql::IsAbsent(series.values[0]) || !json->alive()) continue;
    json->BeginObject();
    json->Key("metric");
    WriteLabels(series.labels, json);
    json->Key("value");
    WriteSample(time_ms, series.values[0], json);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

/// Series in the order of their labels.
template <typename Series>
std::vector<const Series*> Sorted(const std::vector<Series>& all) {
  std::vector<const Series*> sorted;
  for (const Series& series : all) sorted.push_back(&series);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Series* a, const Series* b) { return a->labels < b->labels; });
  return sorted;
}

/// One series of a matrix; `write` prints its samples.
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
    for (size_t i = 0; i < column.size(); ++i) {
      if (!promql::IsAbsent(column[i])) WriteSample(steps.At(i), column[i], json);
    }
  });
}

void WriteMatrix(const Value& value, JsonWriter* json) {
  BeginResult("matrix", json);
  json->BeginArray();
  for (const promql::RangeSeries* series : Sorted(value.matrix)) {
    WriteSamples(series->labels, json, [&] {
      for (size_t i = 0; i < series->values.size(); ++i)
        WriteSample(series->times_ms[i], series->values[i], json);
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
      WriteSample(time_ms, value.scalar[0], json);
      json->EndObject();
      return;
    case ValueType::kString:
      BeginResult("string", json);
      json->BeginArray();
      json->Raw(SecondsText(time_ms));
      json->String(value.text);
      json->EndArray();
      json->EndObject();
      return;
  }
}

void WriteRange(const Value& value, const promql::Steps& steps, JsonWriter* json) {
  BeginResult("matrix", json);
  json->BeginArray();
  if (value.type == ValueType::kScalar) WriteColumn({}, value.scalar, steps, json);
  for (const promql::VectorSeries* series : Sorted(value.vector))
    WriteColumn(series->labels, series->values, steps, json);
  json->EndArray();
  json->EndObject();
}

}  // namespace hg::http
