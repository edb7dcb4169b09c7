#include "http/wire/query_json.h"

#include <cmath>
#include <string>
#include <utility>

#include "http/wire/json_value.h"
#include "query/plan/filter.h"

namespace hg::http {
namespace {

using query::FilterSet;
using query::FilterSpec;
using query::RateOptions;
using query::SubQuery;

Status ReadBool(std::string_view key, const JsonValue& value, bool* out) {
  if (value.is_null()) return {};
  std::optional<bool> b = value.is_scalar() ? value.AsBool() : std::nullopt;
  if (!b) return WrongMember(key, "true or false");
  *out = *b;
  return {};
}

Status ReadInt(std::string_view key, const JsonValue& value, int64_t* out) {
  if (value.is_null()) return {};
  std::optional<int64_t> n = value.is_scalar() ? value.AsInt() : std::nullopt;
  if (!n) return WrongMember(key, "an integer");
  *out = *n;
  return {};
}

Status ReadText(std::string_view key, const JsonValue& value, std::optional<std::string>* out) {
  if (value.is_null()) {
    out->reset();
    return {};
  }
  if (!value.is_scalar()) return WrongMember(key, "a string");
  *out = value.text;
  return {};
}

Result<std::optional<std::vector<std::string>>> ReadTexts(std::string_view key,
                                                          const JsonValue& value) {
  std::optional<std::vector<std::string>> out;
  if (value.is_null()) return out;
  if (!value.is_array()) return WrongMember(key, "an array of strings");
  out.emplace().reserve(value.items.size());
  for (const JsonValue& item : value.items) {
    if (!item.is_scalar()) return WrongMember(key, "an array of strings");
    out->push_back(item.text);
  }
  return out;
}

Status ReadRateOptions(const JsonValue& value, std::optional<RateOptions>* out) {
  out->reset();
  if (value.is_null()) return {};
  if (!value.is_object()) return WrongMember("rateOptions", "an object");
  RateOptions options;
  for (const auto& [key, v] : value.members) {
    if (key == "counter" || key == "isCounter") {
      RETURN_IF_ERROR(ReadBool(key, v, &options.counter));
    } else if (key == "counterMax") {
      if (v.is_null()) options.counter_max = 0;  // Java reads null as 0
      RETURN_IF_ERROR(ReadInt(key, v, &options.counter_max));
    } else if (key == "resetValue") {
      RETURN_IF_ERROR(ReadInt(key, v, &options.reset_value));
    } else if (key == "dropResets") {
      RETURN_IF_ERROR(ReadBool(key, v, &options.drop_resets));
    } else {
      return Status::InvalidArgument("Unrecognized field \"" + key + "\" in rateOptions");
    }
  }
  *out = options;
  return {};
}

Status ReadFilter(const JsonValue& value, FilterSet* filters, std::vector<FilterSpec>* out) {
  if (!value.is_object()) return WrongMember("filters", "an array of objects");
  FilterSpec filter;
  for (const auto& [key, v] : value.members) {
    std::optional<std::string> text;
    if (key == "groupBy" || key == "group_by") {
      RETURN_IF_ERROR(ReadBool(key, v, &filter.group_by));
      continue;
    }
    if (key != "type" && key != "tagk" && key != "filter") continue;
    RETURN_IF_ERROR(ReadText(key, v, &text));
    (key == "type" ? filter.type : key == "tagk" ? filter.tagk : filter.filter) = text.value_or("");
  }
  RETURN_IF_ERROR(filters->Get(filter).status());
  out->push_back(std::move(filter));
  return {};
}

/// Checks for an object whose members are scalars.
Status CheckTags(const JsonValue& value) {
  if (!value.is_object()) return WrongMember("tags", "an object");
  for (const auto& [key, v] : value.members)
    if (!v.is_scalar()) return WrongMember("tags", "an object of strings");
  return {};
}

Result<std::vector<FilterSpec>> ReadTags(const JsonValue& value, FilterSet* filters) {
  std::vector<FilterSpec> out;
  RETURN_IF_ERROR(CheckTags(value));
  ASSIGN_OR_RETURN(const auto tags, value.LastMembers(filters->context()));
  for (const JsonMember* tag : tags) {
    ASSIGN_OR_RETURN(FilterSpec filter, query::LegacyFilter(tag->name, tag->value.text, true));
    RETURN_IF_ERROR(filters->Get(filter).status());
    out.push_back(std::move(filter));
  }
  return out;
}

Result<std::vector<FilterSpec>> ReadFilters(const JsonValue& value, FilterSet* filters) {
  std::vector<FilterSpec> out;
  if (value.is_null()) return out;
  if (!value.is_array()) return WrongMember("filters", "an array");
  for (const JsonValue& item : value.items) {
    if (item.is_null()) return Status::Unsupported("A filter is null");
    RETURN_IF_ERROR(ReadFilter(item, filters, &out));
  }
  return out;
}

Status ReadPercentiles(const JsonValue& value, std::optional<std::vector<double>>* out) {
  out->reset();
  if (value.is_null()) return {};
  if (!value.is_array()) return WrongMember("percentiles", "an array of numbers");
  out->emplace();
  for (const JsonValue& item : value.items) {
    std::optional<double> d = item.is_scalar() ? item.AsDouble() : std::nullopt;
    if (!d) return WrongMember("percentiles", "an array of numbers");
    (*out)->push_back(*d);
  }
  return {};
}

Status ReadMember(const std::string& key, const JsonValue& v, FilterSet* filters, SubQuery* out) {
  if (key == "aggregator") return ReadText(key, v, &out->aggregator);
  if (key == "metric") return ReadText(key, v, &out->metric);
  if (key == "tsuids") {
    ASSIGN_OR_RETURN(std::optional<std::vector<std::string>> tsuids, ReadTexts(key, v));
    out->tsuids.reset();
    if (tsuids) out->tsuids = std::move(*tsuids);
    return {};
  }
  if (key == "downsample") return ReadText(key, v, &out->downsample);
  if (key == "rate") return ReadBool(key, v, &out->rate);
  if (key == "rateOptions") return ReadRateOptions(v, &out->rate_options);
  if (key == "tags" || key == "filters") {
    out->filters_given = !v.is_null();
    ASSIGN_OR_RETURN(out->filters, key == "tags" ? ReadTags(v, filters) : ReadFilters(v, filters));
    return {};
  }
  if (key == "explicitTags") return ReadBool(key, v, &out->explicit_tags);
  if (key == "preAggregate") return ReadBool(key, v, &out->pre_aggregate);
  if (key == "rollupUsage") {
    RETURN_IF_ERROR(ReadText(key, v, &out->rollup_usage));
    if (!out->rollup_usage) out->rollup_usage = "";  // null counts as an unknown text
    return {};
  }
  if (key == "percentiles") return ReadPercentiles(v, &out->percentiles);
  if (key == "showHistogramBuckets") return ReadBool(key, v, &out->show_histogram_buckets);
  if (key == "valueFilter") return ReadText(key, v, &out->value_filter);
  if (key == "useFuzzyFilter") return ReadBool(key, v, &out->use_fuzzy_filter);
  if (key == "useMultiGets") return ReadBool(key, v, &out->use_multi_gets);
  if (key == "index") {  // any number
    int64_t ignored = 0;
    return ReadInt(key, v, &ignored);
  }
  return {};
}

Status CheckOptions(const JsonValue& value) {
  if (value.is_null()) return {};
  if (!value.is_object()) return WrongMember("options", "an object of arrays of strings");
  for (const auto& [key, list] : value.members) {
    if (list.is_null()) continue;
    if (!list.is_array()) return WrongMember("options", "an object of arrays of strings");
    for (const JsonValue& item : list.items) {
      if (!item.is_scalar() && !item.is_null())
        return WrongMember("options", "an object of arrays of strings");
    }
  }
  return {};
}

Status ReadMember(const std::string& key, const JsonValue& v, query::Request* out) {
  if (key == "start") {
    std::optional<std::string> text;
    RETURN_IF_ERROR(ReadText(key, v, &text));
    out->start = text.value_or("");
    return {};
  }
  if (key == "end") return ReadText(key, v, &out->end);
  if (key == "timezone") return ReadText(key, v, &out->timezone);
  if (key == "msResolution") return ReadBool(key, v, &out->ms_resolution);
  if (key == "showTSUIDs") return ReadBool(key, v, &out->show_tsuids);
  if (key == "showQuery") return ReadBool(key, v, &out->show_query);
  if (key == "showStats") return ReadBool(key, v, &out->show_stats);
  if (key == "showSummary") return ReadBool(key, v, &out->show_summary);
  if (key == "noAnnotations") return ReadBool(key, v, &out->no_annotations);
  if (key == "globalAnnotations") return ReadBool(key, v, &out->global_annotations);
  if (key == "padding") return ReadBool(key, v, &out->padding);
  if (key == "delete") return ReadBool(key, v, &out->delete_rows);
  if (key == "useCalendar") return ReadBool(key, v, &out->use_calendar);
  if (key == "overrideByteLimit") return ReadBool(key, v, &out->override_byte_limit);
  if (key == "overrideDataPointLimit") return ReadBool(key, v, &out->override_cell_limit);
  if (key == "options") return CheckOptions(v);
  return {};
}

Status ReadLastTags(const JsonValue& value, RequestContext& context,
                    query::LastPointSubQuery* out) {
  out->tags.clear();
  if (value.is_null()) return {};
  RETURN_IF_ERROR(CheckTags(value));
  ASSIGN_OR_RETURN(const auto tags, value.LastMembers(context));
  for (const JsonMember* tag : tags) out->tags.emplace_back(tag->name, tag->value.text);
  return {};
}

}  // namespace

Status CheckSubQueries(size_t count) {
  if (count <= kSubQueriesMax) return {};
  return Status::LimitExceeded("The request has " + std::to_string(count) +
                               " sub-queries, more than " + std::to_string(kSubQueriesMax));
}

Result<query::Request> ReadQuery(const JsonValue& body, FilterSet* filters) {
  FilterSet own(RequestContext::Unlimited());
  if (filters == nullptr) filters = &own;
  if (!body.is_object()) return Status::InvalidArgument("A query is a JSON object");
  query::Request out;
  for (const auto& [key, value] : body.members) RETURN_IF_ERROR(ReadMember(key, value, &out));
  const JsonValue* queries = body.Find("queries");
  if (queries == nullptr || queries->is_null()) {
    return Status::Unsupported("Missing queries: \"queries\" must be an array of sub-queries");
  }
  if (!queries->is_array()) return WrongMember("queries", "an array");
  RETURN_IF_ERROR(CheckSubQueries(queries->items.size()));
  for (const JsonValue& item : queries->items) {
    if (!item.is_object()) return WrongMember("queries", "an array of objects");
    SubQuery sub;
    for (const auto& [key, value] : item.members)
      RETURN_IF_ERROR(ReadMember(key, value, filters, &sub));
    out.queries.push_back(std::move(sub));
  }
  return out;
}

Result<query::LastPointQuery> ReadLastPointQuery(const JsonValue& body, RequestContext& context) {
  if (!body.is_object()) return Status::InvalidArgument("A query is a JSON object");
  query::LastPointQuery out;
  for (const auto& [key, value] : body.members) {
    if (key == "resolveNames") {
      RETURN_IF_ERROR(ReadBool(key, value, &out.resolve_names));
    } else if (key == "backScan") {
      RETURN_IF_ERROR(ReadInt(key, value, &out.back_scan_hours));
    } else if (key != "queries") {
      return Status::InvalidArgument("Unrecognized field \"" + key + "\"");
    }
  }
  const JsonValue* queries = body.Find("queries");
  if (queries == nullptr || queries->is_null()) return out;
  if (!queries->is_array()) return WrongMember("queries", "an array");
  RETURN_IF_ERROR(CheckSubQueries(queries->items.size()));
  for (const JsonValue& item : queries->items) {
    if (!item.is_object()) return WrongMember("queries", "an array of objects");
    query::LastPointSubQuery sub;
    for (const auto& [key, value] : item.members) {
      if (key == "metric") {
        RETURN_IF_ERROR(ReadText(key, value, &sub.metric));
      } else if (key == "tags") {
        RETURN_IF_ERROR(ReadLastTags(value, context, &sub));
      } else if (key == "tsuids") {
        ASSIGN_OR_RETURN(std::optional<std::vector<std::string>> tsuids, ReadTexts(key, value));
        if (tsuids) sub.tsuids = std::move(*tsuids);
      } else {
        return Status::InvalidArgument("Unrecognized field \"" + key + "\" in a sub-query");
      }
    }
    out.queries.push_back(std::move(sub));
  }
  return out;
}

}  // namespace hg::http
