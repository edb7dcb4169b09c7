#include "http/wire/query_uri.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "query/filter.h"
#include "storage/model/letter_case.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

using query::FilterSpec;
using query::SubQuery;

// All parts, empty ones included.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (size_t at = 0;;) {
    size_t end = text.find(separator, at);
    out.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return out;
    at = end + 1;
  }
}

std::optional<int64_t> ParseLong(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t value;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "rate", "rate{counter,max,reset}", "rate{dropcounter}".
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

// "percentiles[99.9,50]".
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

// "key=filter".
Result<FilterSpec> ReadTag(std::string_view text, bool group_by) {
  std::vector<std::string_view> parts = Split(text, '=');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
    return Status::Unsupported("When parsing tag '" + std::string(text) +
                               "': invalid tag: " + std::string(text));
  }
  Result<FilterSpec> filter = query::LegacyFilter(parts[0], parts[1], group_by);
  Status status = filter.status();
  if (filter.ok()) status = query::TagFilter::Compile(*filter).status();
  if (!status.ok()) {
    return Status::Unsupported("When parsing tag '" + std::string(text) +
                               "': " + std::string(status.message()));
  }
  return filter;
}

// A grouping filter that only repeats a filter of the second braces makes that one group.
void AddGrouping(FilterSpec filter, std::vector<FilterSpec>* filters) {
  for (FilterSpec& known : *filters) {
    if (query::SameFilter(known, filter)) {
      known.group_by = true;
      return;
    }
  }
  filters->push_back(std::move(filter));
}

// "metric{grouping}{filtering}": the first braces are the first '{' … the first '}', the second the
// last '{' … the end.
Status ReadMetric(std::string_view text, SubQuery* out) {
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
  if (close < open) return Status::Unsupported("'}' before '{' in: " + std::string(text));
  if (two_groups) {
    size_t second = text.rfind('{');
    for (std::string_view tag : Split(text.substr(second + 1, text.size() - second - 2), ',')) {
      if (tag.empty()) break;
      ASSIGN_OR_RETURN(FilterSpec filter, ReadTag(tag, false));
      out->filters.push_back(std::move(filter));
    }
  }
  for (std::string_view tag : Split(text.substr(open + 1, close - open - 1), ',')) {
    if (tag.empty() && two_groups) break;
    ASSIGN_OR_RETURN(FilterSpec filter, ReadTag(tag, true));
    AddGrouping(std::move(filter), &out->filters);
  }
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

// Options are known by how they begin; unknown ones are passed over.
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

// "metric{key=value,…}", plain pairs.
Status ReadSeries(std::string_view text, query::LastPointSubQuery* out) {
  if (text.empty()) return Status::InvalidArgument("Metric cannot be null or empty");
  size_t open = text.find('{');
  out->metric = std::string(text.substr(0, open));
  if (open == std::string_view::npos) return {};
  if (text.back() != '}')
    return Status::Unsupported("Missing '}' at the end of: " + std::string(text));
  std::string_view inner = text.substr(open + 1, text.size() - open - 2);
  if (inner.empty()) return {};
  for (std::string_view tag : Split(inner, ',')) {
    std::vector<std::string_view> parts = Split(tag, '=');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return Status::Unsupported("When parsing tag '" + std::string(tag) +
                                 "': invalid tag: " + std::string(tag));
    }
    const auto same = std::find_if(out->tags.begin(), out->tags.end(),
                                   [&](const auto& known) { return known.first == parts[0]; });
    if (same == out->tags.end()) {
      out->tags.emplace_back(parts[0], parts[1]);
    } else if (same->second != parts[1]) {
      return Status::Unsupported("When parsing tag '" + std::string(tag) +
                                 "': duplicate tag: " + std::string(tag));
    }
  }
  return {};
}

}  // namespace

Result<SubQuery> ReadMetricQuery(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<std::string_view> parts, SplitQuery(text, "m"));
  SubQuery out;
  out.aggregator = std::string(parts[0]);
  RETURN_IF_ERROR(ReadMetric(parts.back(), &out));
  for (size_t i = 1; i + 1 < parts.size(); ++i) RETURN_IF_ERROR(ReadOption(parts[i], true, &out));
  return out;
}

Result<SubQuery> ReadTsuidQuery(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<std::string_view> parts, SplitQuery(text, "tsuid"));
  SubQuery out;
  out.aggregator = std::string(parts[0]);
  out.tsuids.emplace();
  for (std::string_view tsuid : Split(parts.back(), ',')) out.tsuids->emplace_back(tsuid);
  while (out.tsuids->size() > 1 && out.tsuids->back().empty()) out.tsuids->pop_back();
  for (size_t i = 1; i + 1 < parts.size(); ++i) RETURN_IF_ERROR(ReadOption(parts[i], false, &out));
  return out;
}

Result<query::Request> ReadQuery(const Parameters& parameters) {
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
  for (const std::string& text : parameters.All("tsuid")) {
    ASSIGN_OR_RETURN(SubQuery sub, ReadTsuidQuery(text));
    out.queries.push_back(std::move(sub));
  }
  for (const std::string& text : parameters.All("m")) {
    ASSIGN_OR_RETURN(SubQuery sub, ReadMetricQuery(text));
    out.queries.push_back(std::move(sub));
  }
  // OpenTSDB does so on /api/query too, and answers with the metrics themselves.
  std::vector<std::string> metrics;
  for (const std::string& text : parameters.All("exp")) {
    RETURN_IF_ERROR(query::ParseGexp(text, &metrics).status());
  }
  for (const std::string& text : metrics) {
    ASSIGN_OR_RETURN(SubQuery sub, ReadMetricQuery(text));
    out.queries.push_back(std::move(sub));
  }
  if (out.queries.empty()) return Status::InvalidArgument("Missing sub queries");
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
    for (std::string_view tsuid : Split(text, ',')) sub.tsuids.emplace_back(tsuid);
    while (sub.tsuids.size() > 1 && sub.tsuids.back().empty()) sub.tsuids.pop_back();
    out.queries.push_back(std::move(sub));
  }
  return out;
}

}  // namespace hg::http
