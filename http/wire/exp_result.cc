#include "http/wire/exp_result.h"

#include <algorithm>
#include <limits>
#include <string>

#include "storage/model/java_hash.h"

namespace hg::http {
namespace {

using query::ExpRequest;
using query::ExpResult;
using query::ExpTable;
using query::FillPolicy;
using query::NumericFill;
using query::SeriesIdentity;

void WriteFill(std::string_view key, const std::optional<NumericFill>& fill, JsonWriter* json) {
  json->Key(key);
  if (!fill) return json->Null();
  constexpr std::string_view kPolicies[] = {"none", "nan", "null", "zero", "scalar"};
  json->BeginObject();
  json->Member("policy", kPolicies[static_cast<size_t>(fill->policy)]);
  json->Member("value", fill->value);
  json->EndObject();
}

void WriteRows(const ExpResult& result, JsonWriter* json) {
  const ExpTable& table = *result.table;
  const size_t width = table.series.size();
  json->Key("dps");
  json->BeginArray();
  for (size_t row = result.row_begin; row < result.row_end && json->alive(); ++row) {
    json->BeginArray();
    json->Int(table.times_ms[row]);
    for (size_t s = 0; s < width; ++s) json->Double(table.values[row * width + s]);
    json->EndArray();
  }
  json->EndArray();
}

void WriteRowsMeta(const ExpResult& result, JsonWriter* json) {
  const std::vector<int64_t>& times = result.table->times_ms;
  size_t rows = result.row_end - result.row_begin;
  int64_t none = result.is_metric ? std::numeric_limits<int64_t>::max() : 0;
  json->Key("dpsMeta");
  json->BeginObject();
  json->Member("firstTimestamp", rows > 0 ? times[result.row_begin] : none);
  // If the result has only one row, its time is lastTimestamp for a metric, but not for an
  // expression (observed in OpenTSDB).
  const size_t fewest = result.is_metric ? 1 : 2;
  json->Member("lastTimestamp", rows >= fewest ? times[result.row_end - 1] : int64_t{0});
  json->Member("setCount", static_cast<int64_t>(rows));
  json->Member("series", static_cast<int64_t>(result.table->series.size()));
  json->EndObject();
}

void WriteSeriesMeta(const std::vector<SeriesIdentity>& series, JsonWriter* json) {
  if (series.empty()) return;
  // Every column shows the metrics of the first column.
  std::vector<Bytes> metrics;
  for (const SeriesIdentity::Name& metric : series[0].metrics) metrics.push_back(metric.name);
  std::sort(metrics.begin(), metrics.end());
  json->Key("meta");
  json->BeginArray();
  json->BeginObject();
  json->Member("index", 0);
  json->Key("metrics");
  json->BeginArray();
  json->String("timestamp");
  json->EndArray();
  json->EndObject();
  for (size_t i = 0; i < series.size() && json->alive(); ++i) {
    json->BeginObject();
    json->Member("index", static_cast<int64_t>(i + 1));
    json->Key("metrics");
    json->BeginArray();
    for (const Bytes& metric : metrics) json->String(metric);
    json->EndArray();
    json->Key("commonTags");
    json->BeginObject();
    std::vector<uint32_t> hashes;
    for (const SeriesIdentity::Tag& tag : series[i].tags) {
      hashes.push_back(JavaHashUtf8(tag.key.name));
    }
    for (size_t t : JavaMapOrder(hashes, Hash16Capacity(hashes.size()))) {
      json->Member(series[i].tags[t].key.name, series[i].tags[t].value.name);
    }
    json->EndObject();
    json->Key("aggregatedTags");
    json->BeginArray();
    for (const SeriesIdentity::Name& key : series[i].aggregated) json->String(key.name);
    json->EndArray();
    json->EndObject();
  }
  json->EndArray();
}

void WriteTime(const query::ExpTime& time, JsonWriter* json) {
  json->BeginObject();
  json->TextOrNull("start", time.start);
  json->TextOrNull("end", time.end);
  json->TextOrNull("timezone", time.timezone);
  json->Key("downsampler");
  if (time.downsampler) {
    json->BeginObject();
    json->TextOrNull("interval", time.downsampler->interval);
    json->TextOrNull("aggregator", time.downsampler->aggregator);
    WriteFill("fillPolicy", time.downsampler->fill, json);
    json->EndObject();
  } else {
    json->Null();
  }
  json->TextOrNull("aggregator", time.aggregator);
  json->Member("rate", time.rate);
  json->EndObject();
}

void Write(const query::ExpFilter& filter, JsonWriter* json) {
  json->BeginObject();
  json->TextOrNull("id", filter.id);
  json->Key("tags");
  if (filter.tags_missing) {
    json->Null();
  } else {
    json->BeginArray();
    for (const query::FilterSpec& tag : filter.tags) {
      json->BeginObject();
      json->Member("tagk", tag.tagk);
      json->Member("filter", tag.filter);
      json->Member("group_by", tag.group_by);
      json->Member("type", tag.type);
      json->EndObject();
    }
    json->EndArray();
  }
  json->Member("explicitTags", filter.explicit_tags);
  json->EndObject();
}

void Write(const query::ExpMetric& metric, JsonWriter* json) {
  json->BeginObject();
  json->TextOrNull("metric", metric.metric);
  json->TextOrNull("id", metric.id);
  json->TextOrNull("filter", metric.filter);
  json->TextOrNull("aggregator", metric.aggregator);
  json->TextOrNull("timeOffset", metric.time_offset);
  WriteFill("fillPolicy", metric.fill, json);
  json->EndObject();
}

void Write(const query::ExpExpression& expression, JsonWriter* json) {
  json->BeginObject();
  json->TextOrNull("id", expression.id);
  json->TextOrNull("expr", expression.expr);
  json->Key("join");
  json->BeginObject();
  json->Member("operator", expression.join.intersection ? "intersection" : "union");
  json->Member("useQueryTags", expression.join.use_query_tags);
  json->Member("includeAggTags", expression.join.include_aggregated);
  json->EndObject();
  WriteFill("fillPolicy", expression.fill, json);
  json->EndObject();
}

void Write(const query::ExpOutput& output, JsonWriter* json) {
  json->BeginObject();
  json->TextOrNull("id", output.id);
  json->TextOrNull("alias", output.alias);
  json->EndObject();
}

template <typename T>
void WriteAll(std::string_view key, const std::vector<T>* items, JsonWriter* json) {
  json->Key(key);
  if (items == nullptr) return json->Null();
  json->BeginArray();
  for (const T& item : *items) Write(item, json);
  json->EndArray();
}

void WriteRequest(const ExpRequest& request, JsonWriter* json) {
  json->BeginObject();
  json->TextOrNull("name", request.name);
  json->Key("time");
  request.time ? WriteTime(*request.time, json) : json->Null();
  WriteAll("filters", request.filters ? &*request.filters : nullptr, json);
  WriteAll("metrics", &request.metrics, json);
  WriteAll("expressions", request.expressions ? &*request.expressions : nullptr, json);
  WriteAll("outputs", request.outputs ? &*request.outputs : nullptr, json);
  json->EndObject();
}

}  // namespace

void WriteExpResults(const ExpRequest& request, const std::vector<ExpResult>& results,
                     JsonWriter* json) {
  json->BeginObject();
  json->Key("outputs");
  json->BeginArray();
  for (const ExpResult& result : results) {
    if (!json->alive()) return;
    json->BeginObject();
    json->Member("id", result.id);
    if (result.alias) json->Member("alias", *result.alias);
    WriteRows(result, json);
    WriteRowsMeta(result, json);
    WriteSeriesMeta(result.table->series, json);
    json->EndObject();
  }
  json->EndArray();
  json->Key("query");
  WriteRequest(request, json);
  json->EndObject();
}

}  // namespace hg::http
