#include "http/wire/query_uri.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/wire/query_json.h"
#include "query/plan/filter.h"
#include "storage/model/letter_case.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

using query::FilterSet;
using query::FilterSpec;
using query::SubQuery;

// Splits at every separator; keeps empty parts.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (size_t at = 0;;) {
    size_t end = text.find(separator, at);
    out.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return out;
    at = end + 1;
  }
}

// Splits at commas; drops empty parts at the end.
std::vector<std::string> SplitTsuids(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view tsuid : Split(text, ',')) out.emplace_back(tsuid);
  while (out.size() > 1 && out.back().empty()) out.pop_back();
  return out;
}

std::optional<int64_t> ParseLong(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t value;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Parses "rate", "rate{counter,max,reset}" and "rate{dropcounter}".
Status ReadRate(std::string_view text, SubQuery* out) {
  out->rate = true;
  if (text.find('{') == std::string_view::npos) return {};
  if (text.size() < 6)
    return Status::InvalidArgument("Invalid rate options specification: " + std::string(text));
  std::vector<std::string_view> parts = Split(text.substr(5, text.size() - 6), ',');
  if (parts.size() > 3) {
    return Status::InvalidArgument(
        "Incorrect number of values in rate options specification, must be counter[,counter max "
        "value,reset value], "
        "received: " +
        std::to_string(parts.size()) + " parts");
  }
  query::RateOptions options;
  options.counter = parts[0].ends_with("counter");
  options.drop_resets = parts[0] == "dropcounter";
  if (parts.size() >= 2 && !parts[1].empty()) {
    std::optional<int64_t> max = ParseLong(parts[1]);
    if (!max) {
      return Status::InvalidArgument("Max value of counter was not a number, received '" +
                                     std::string(parts[1]) + "'");
    }
    options.counter_max = *max;
  }
  if (parts.size() >= 3 && !parts[2].empty()) {
    std::optional<int64_t> reset = ParseLong(parts[2]);
    if (!reset) {
      return Status::InvalidArgument("Reset value of counter was not a number, received '" +
                                     std::string(parts[2]) + "'");
    }
    options.reset_value = *reset;
  }
  out->rate_options = options;
  return {};
}

// Parses "percentiles[99.9,50]".
Status ReadPercentiles(std::string_view text, SubQuery* out) {
  size_t open = text.find('[');
  size_t close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return Status::InvalidArgument("Malformed percentile query parameter: " + std::string(text));
  }
  out->percentiles.emplace();
  for (std::string_view item : Split(text.substr(open + 1, close - open - 1), ',')) {
    double value;
    if (!ParseJavaDouble(item, &value)) {
      return Status::Unsupported("The percentile '" + std::string(item) + "' is not a number");
    }
    out->percentiles->push_back(value);
  }
  return {};
}

// Parses "key=filter".
Result<FilterSpec> ReadTag(std::string_view text, bool group_by, FilterSet* filters) {
  std::vector<std::string_view> parts = Split(text, '=');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
    return Status::Unsupported("When parsing tag '" + std::string(text) +
                               "': invalid tag: " + std::string(text));
  }
  Result<FilterSpec> filter = query::LegacyFilter(parts[0], parts[1], group_by);
  Status status = filter.status();
  if (filter.ok()) status = filters->Get(*filter).status();
  if (!status.ok() && status.code() != StatusCode::kInvalidArgument) return status;
  if (!status.ok()) {
    return Status::Unsupported("When parsing tag '" + std::string(text) +
                               "': " + std::string(status.message()));
  }
  return filter;
}

/// The filters in both pairs of braces of a metric. A request line is short (request_head.h), so
/// comparing the filters needs no limits, and FilterIdentity does not fail.
class FilterList {
 public:
  void Add(FilterSpec filter) {
    places_.try_emplace(*query::FilterIdentity(filter), filters_.size());
    filters_.push_back(std::move(filter));
  }
  /// Adds a grouping filter. If an equal filter exists, that filter becomes a grouping filter
  /// instead.
  void AddGrouping(FilterSpec filter) {
    const auto known = places_.find(*query::FilterIdentity(filter));
    if (known == places_.end()) return Add(std::move(filter));
    filters_[known->second].group_by = true;
  }
  std::vector<FilterSpec> Take() { return std::move(filters_); }

 private:
  std::vector<FilterSpec> filters_;
  std::map<Bytes, size_t> places_;  // index of the first filter of each identity
};

// Parses "metric{grouping}{filtering}". The first braces extend from the first '{' to the first
// '}', the second from the last '{' to the end.
Status ReadMetric(std::string_view text, FilterSet* compiled, SubQuery* out) {
  if (text.empty()) return Status::Unsupported("Metric cannot be null or empty");
  size_t open = text.find('{');
  if (open == std::string_view::npos) {
    out->metric = std::string(text);
    return {};
  }
  if (text.back() != '}')
    return Status::Unsupported("Missing '}' at the end of: " + std::string(text));
  out->metric = std::string(text.substr(0, open));
  if (open + 2 == text.size()) return {};
  size_t close = text.find('}');
  bool two_groups = close != text.size() - 1;
  FilterList filters;
  if (close < open) return Status::Unsupported("'}' before '{' in: " + std::string(text));
  if (two_groups) {
    size_t second = text.rfind('{');
    for (std::string_view tag : Split(text.substr(second + 1, text.size() - second - 2), ',')) {
      if (tag.empty()) break;
      ASSIGN_OR_RETURN(FilterSpec filter, ReadTag(tag, false, compiled));
      filters.Add(std::move(filter));
    }
  }
  for (std::string_view tag : Split(text.substr(open + 1, close - open - 1), ',')) {
    if (tag.empty() && two_groups) break;
    ASSIGN_OR_RETURN(FilterSpec filter, ReadTag(tag, true, compiled));
    filters.AddGrouping(std::move(filter));
  }
  out->filters = filters.Take();
  return {};
}

Result<std::vector<std::string_view>> SplitQuery(std::string_view text,
                                                 std::string_view parameter) {
  if (text.empty()) return Status::InvalidArgument("The query string was empty");
  std::vector<std::string_view> parts = Split(text, ':');
  if (parts.size() < 2 || parts.size() > 5) {
    return Status::InvalidArgument(
        "Invalid parameter " + std::string(parameter) + "=" + std::string(text) + " (" +
        (parts.size() < 2 ? "not enough" : "too many") + " :-separated parts)");
  }
  return parts;
}

// Options are recognized by their first letters; unknown options are ignored.
Status ReadOption(std::string_view text, bool by_metric, SubQuery* out) {
  std::string lower = LowerCase(text);
  if (lower.starts_with("rate")) return ReadRate(text, out);
  if (text.empty()) return Status::Unsupported("An option between colons is empty");
  if (text[0] >= '0' && text[0] <= '9') {
    out->downsample = std::string(text);
  } else if (lower.starts_with("percentiles")) {
    return ReadPercentiles(text, out);
  } else if (lower.starts_with("show-histogram-buckets")) {
    out->show_histogram_buckets = true;
  } else if (lower.size() > 5 && lower.starts_with("value") &&
             std::string_view("<>=!").find(lower[5]) != std::string_view::npos) {
    out->value_filter = std::string(text.substr(5));
  } else if (!by_metric) {
    return {};
  } else if (lower == "pre-agg") {
    out->pre_aggregate = true;
  } else if (lower.starts_with("rollup_")) {
    out->rollup_usage = std::string(text);
  } else if (lower.starts_with("explicit_tags")) {
    out->explicit_tags = true;
  }
  return {};
}

// Parses "metric{key=value,…}" with plain pairs only.
Status ReadSeries(std::string_view text, query::LastPointSubQuery* out) {
  if (text.empty()) return Status::InvalidArgument("Metric cannot be null or empty");
  size_t open = text.find('{');
  out->metric = std::string(text.substr(0, open));
  if (open == std::string_view::npos) return {};
  if (text.back() != '}')
    return Status::Unsupported("Missing '}' at the end of: " + std::string(text));
  std::string_view inner = text.substr(open + 1, text.size() - open - 2);
  if (inner.empty()) return {};
  std::map<std::string_view, std::string_view> known;
  for (std::string_view tag : Split(inner, ',')) {
    std::vector<std::string_view> parts = Split(tag, '=');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return Status::Unsupported("When parsing tag '" + std::string(tag) +
                                 "': invalid tag: " + std::string(tag));
    }
    const auto [same, added] = known.try_emplace(parts[0], parts[1]);
    if (added) {
      out->tags.emplace_back(parts[0], parts[1]);
    } else if (same->second != parts[1]) {
      return Status::Unsupported("When parsing tag '" + std::string(tag) +
                                 "': duplicate tag: " + std::string(tag));
    }
  }
  return {};
}

}  // namespace

Result<SubQuery> ReadMetricQuery(std::string_view text, FilterSet* filters) {
  FilterSet own(RequestContext::Unlimited());
  ASSIGN_OR_RETURN(std::vector<std::string_view> parts, SplitQuery(text, "m"));
  SubQuery out;
  out.aggregator = std::string(parts[0]);
  RETURN_IF_ERROR(ReadMetric(parts.back(), filters != nullptr ? filters : &own, &out));
  for (size_t i = 1; i + 1 < parts.size(); ++i) RETURN_IF_ERROR(ReadOption(parts[i], true, &out));
  return out;
}

Result<SubQuery> ReadTsuidQuery(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<std::string_view> parts, SplitQuery(text, "tsuid"));
  SubQuery out;
  out.aggregator = std::string(parts[0]);
  out.tsuids = SplitTsuids(parts.back());
  for (size_t i = 1; i + 1 < parts.size(); ++i) RETURN_IF_ERROR(ReadOption(parts[i], false, &out));
  return out;
}

Result<query::Request> ReadQuery(const Parameters& parameters, FilterSet* filters) {
  query::Request out;
  if (const std::string* start = parameters.Find("start")) out.start = *start;
  if (const std::string* end = parameters.Find("end")) out.end = *end;
  out.ms_resolution = parameters.Has("ms");
  out.show_tsuids = parameters.Has("show_tsuids");
  out.show_query = parameters.Has("show_query");
  out.show_stats = parameters.Has("show_stats");
  out.show_summary = parameters.Has("show_summary");
  out.no_annotations = parameters.Has("no_annotations");
  out.global_annotations = parameters.Has("global_annotations");
  out.padding = parameters.Has("padding");
  std::vector<SubQuery> queries;
  for (const std::string& text : parameters.All("tsuid")) {
    ASSIGN_OR_RETURN(SubQuery sub, ReadTsuidQuery(text));
    queries.push_back(std::move(sub));
  }
  for (const std::string& text : parameters.All("m")) {
    ASSIGN_OR_RETURN(SubQuery sub, ReadMetricQuery(text, filters));
    queries.push_back(std::move(sub));
  }
  // Like OpenTSDB, /api/query also accepts `exp` and returns the results of the metrics in it.
  std::vector<std::string> metrics;
  for (const std::string& text : parameters.All("exp")) {
    RETURN_IF_ERROR(query::ParseGexp(text, &metrics).status());
  }
  for (const std::string& text : metrics) {
    ASSIGN_OR_RETURN(SubQuery sub, ReadMetricQuery(text, filters));
    queries.push_back(std::move(sub));
  }
  if (queries.empty()) return Status::InvalidArgument("Missing sub queries");
  RETURN_IF_ERROR(CheckSubQueries(queries.size()));
  out.queries = std::move(queries);
  return out;
}

Result<std::vector<query::GexpCall>> ReadExpressions(const Parameters& parameters) {
  std::vector<query::GexpCall> out;
  std::vector<std::string> metrics;
  for (const std::string& text : parameters.All("exp")) {
    ASSIGN_OR_RETURN(query::GexpCall call, query::ParseGexp(text, &metrics));
    out.push_back(std::move(call));
  }
  return out;
}

Result<query::LastPointQuery> ReadLastPointQuery(const Parameters& parameters) {
  query::LastPointQuery out;
  out.resolve_names = parameters.Has("resolve");
  if (const std::string* text = parameters.Find("back_scan"); text != nullptr) {
    std::optional<int64_t> hours = ParseLong(*text);
    if (!hours || *hours != static_cast<int32_t>(*hours))
      return Status::InvalidArgument("Unable to parse back_scan parameter");
    out.back_scan_hours = *hours;
  }
  for (const std::string& text : parameters.All("timeseries")) {
    query::LastPointSubQuery sub;
    RETURN_IF_ERROR(ReadSeries(text, &sub));
    out.queries.push_back(std::move(sub));
  }
  for (const std::string& text : parameters.All("tsuids")) {
    query::LastPointSubQuery sub;
    sub.tsuids = SplitTsuids(text);
    out.queries.push_back(std::move(sub));
  }
  return out;
}

}  // namespace hg::http
