#include "http/wire/exp_json.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "http/wire/json_value.h"
#include "http/wire/query_json.h"
#include "query/plan/filter.h"

namespace hg::http {
namespace {

using query::ExpDownsampler;
using query::ExpExpression;
using query::ExpFilter;
using query::ExpMetric;
using query::ExpOutput;
using query::ExpTime;
using query::FillPolicy;
using query::NumericFill;

// Reads a member. If the member is absent or null, *out stays unchanged.
Status ReadText(const JsonValue& object, std::string_view key, std::optional<std::string>* out) {
  const JsonValue* value = object.Find(key);
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_scalar()) return WrongMember(key, "a string");
  *out = value->text;
  return {};
}

Status ReadBool(const JsonValue& object, std::string_view key, bool* out) {
  const JsonValue* value = object.Find(key);
  if (value == nullptr || value->is_null()) return {};
  std::optional<bool> b = value->is_scalar() ? value->AsBool() : std::nullopt;
  if (!b) return WrongMember(key, "true or false");
  *out = *b;
  return {};
}

Status ReadFill(const JsonValue& object, std::string_view key, std::optional<NumericFill>* out) {
  const JsonValue* value = object.Find(key);
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_object()) return WrongMember(key, "an object");
  std::optional<std::string> policy;
  RETURN_IF_ERROR(ReadText(*value, "policy", &policy));
  NumericFill fill;
  if (const JsonValue* number = value->Find("value"); number != nullptr && !number->is_null()) {
    std::optional<double> d = number->is_scalar() ? number->AsDouble() : std::nullopt;
    if (!d) return WrongMember("value", "a number");
    fill.value = *d;
  }
  bool is_nan = std::isnan(fill.value);
  if (!policy) {
    fill.policy = is_nan            ? FillPolicy::kNan
                  : fill.value == 0 ? FillPolicy::kZero
                                    : FillPolicy::kScalar;
    *out = fill;
    return {};
  }
  policy = query::LowerUtf8(*policy);
  if (*policy == "none" || *policy == "nan" || *policy == "null") {
    fill.policy = *policy == "none"  ? FillPolicy::kNone
                  : *policy == "nan" ? FillPolicy::kNan
                                     : FillPolicy::kNull;
    if (!is_nan && fill.value != 0) {
      return Status::InvalidArgument("The fill policy '" + *policy + "' takes no value");
    }
    fill.value = std::numeric_limits<double>::quiet_NaN();
  } else if (*policy == "zero") {
    fill.policy = FillPolicy::kZero;
    if (fill.value != 0) return Status::InvalidArgument("The fill policy 'zero' takes no value");
  } else if (*policy == "scalar") {
    fill.policy = FillPolicy::kScalar;
  } else {
    return Status::InvalidArgument("Unrecognized fill policy: " + *policy);
  }
  *out = fill;
  return {};
}

Status Read(const JsonValue& value, ExpTime* out) {
  RETURN_IF_ERROR(ReadText(value, "start", &out->start));
  RETURN_IF_ERROR(ReadText(value, "end", &out->end));
  RETURN_IF_ERROR(ReadText(value, "timezone", &out->timezone));
  RETURN_IF_ERROR(ReadText(value, "aggregator", &out->aggregator));
  RETURN_IF_ERROR(ReadBool(value, "rate", &out->rate));
  const JsonValue* downsampler = value.Find("downsampler");
  if (downsampler == nullptr || downsampler->is_null()) return {};
  if (!downsampler->is_object()) return WrongMember("downsampler", "an object");
  ExpDownsampler& read = out->downsampler.emplace();
  RETURN_IF_ERROR(ReadText(*downsampler, "interval", &read.interval));
  RETURN_IF_ERROR(ReadText(*downsampler, "aggregator", &read.aggregator));
  return ReadFill(*downsampler, "fillPolicy", &read.fill);
}

Status Read(const JsonValue& value, query::FilterSpec* out) {
  std::optional<std::string> type, tagk, filter;
  RETURN_IF_ERROR(ReadText(value, "type", &type));
  RETURN_IF_ERROR(ReadText(value, "tagk", &tagk));
  RETURN_IF_ERROR(ReadText(value, "filter", &filter));
  RETURN_IF_ERROR(ReadBool(value, "group_by", &out->group_by));
  RETURN_IF_ERROR(ReadBool(value, "groupBy", &out->group_by));
  out->type = type.value_or("");
  out->tagk = tagk.value_or("");
  out->filter = filter.value_or("");
  return {};
}

// Reads an array of objects. If the member is absent or null, *out stays unchanged.
template <typename T>
Status ReadAll(const JsonValue& object, std::string_view key, std::optional<std::vector<T>>* out);

Status Read(const JsonValue& value, ExpFilter* out) {
  RETURN_IF_ERROR(ReadText(value, "id", &out->id));
  RETURN_IF_ERROR(ReadBool(value, "explicitTags", &out->explicit_tags));
  std::optional<std::vector<query::FilterSpec>> tags;
  RETURN_IF_ERROR(ReadAll(value, "tags", &tags));
  out->tags_missing = !tags;
  if (tags) out->tags = std::move(*tags);
  return {};
}

Status Read(const JsonValue& value, ExpMetric* out) {
  RETURN_IF_ERROR(ReadText(value, "id", &out->id));
  RETURN_IF_ERROR(ReadText(value, "metric", &out->metric));
  RETURN_IF_ERROR(ReadText(value, "filter", &out->filter));
  RETURN_IF_ERROR(ReadText(value, "aggregator", &out->aggregator));
  RETURN_IF_ERROR(ReadText(value, "timeOffset", &out->time_offset));
  return ReadFill(value, "fillPolicy", &out->fill);
}

Status Read(const JsonValue& value, ExpExpression* out) {
  RETURN_IF_ERROR(ReadText(value, "id", &out->id));
  RETURN_IF_ERROR(ReadText(value, "expr", &out->expr));
  RETURN_IF_ERROR(ReadFill(value, "fillPolicy", &out->fill));
  const JsonValue* join = value.Find("join");
  if (join == nullptr || join->is_null()) return {};
  if (!join->is_object()) return WrongMember("join", "an object");
  std::optional<std::string> set_operator;
  RETURN_IF_ERROR(ReadText(*join, "operator", &set_operator));
  const std::string name = query::LowerUtf8(set_operator.value_or(""));
  if (name != "union" && name != "intersection") {
    return Status::InvalidArgument("The operator of a join must be union or intersection, not '" +
                                   set_operator.value_or("") + "'");
  }
  out->join.intersection = name == "intersection";
  RETURN_IF_ERROR(ReadBool(*join, "useQueryTags", &out->join.use_query_tags));
  return ReadBool(*join, "includeAggTags", &out->join.include_aggregated);
}

Status Read(const JsonValue& value, ExpOutput* out) {
  RETURN_IF_ERROR(ReadText(value, "id", &out->id));
  return ReadText(value, "alias", &out->alias);
}

template <typename T>
Status ReadAll(const JsonValue& object, std::string_view key, std::optional<std::vector<T>>* out) {
  const JsonValue* value = object.Find(key);
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_array()) return WrongMember(key, "an array");
  if (value->items.size() > kSubQueriesMax) {
    return Status::InvalidArgument("\"" + std::string(key) + "\" has " +
                                   std::to_string(value->items.size()) + " elements, more than " +
                                   std::to_string(kSubQueriesMax));
  }
  out->emplace();
  for (const JsonValue& item : value->items) {
    if (!item.is_object()) return WrongMember(key, "an array of objects");
    RETURN_IF_ERROR(Read(item, &(*out)->emplace_back()));
  }
  return {};
}

}  // namespace

Result<query::ExpRequest> ReadExpRequest(const JsonValue& body) {
  if (!body.is_object()) return Status::InvalidArgument("A query is a JSON object");
  query::ExpRequest out;
  RETURN_IF_ERROR(ReadText(body, "name", &out.name));
  const JsonValue* time = body.Find("time");
  if (time != nullptr && !time->is_null()) {
    if (!time->is_object()) return WrongMember("time", "an object");
    RETURN_IF_ERROR(Read(*time, &out.time.emplace()));
  }
  std::optional<std::vector<ExpMetric>> metrics;
  RETURN_IF_ERROR(ReadAll(body, "filters", &out.filters));
  RETURN_IF_ERROR(ReadAll(body, "metrics", &metrics));
  RETURN_IF_ERROR(ReadAll(body, "expressions", &out.expressions));
  RETURN_IF_ERROR(ReadAll(body, "outputs", &out.outputs));
  if (metrics) out.metrics = std::move(*metrics);
  return out;
}

}  // namespace hg::http
