#include "query/validate.h"

#include <bit>
#include <set>

#include "query/filter_identity.h"
#include "query/time_text.h"
#include "storage/base/sized_bytes.h"
#include "storage/model/number_text.h"
#include "storage/model/timestamp.h"

namespace hg::query {
namespace {

bool Empty(const std::optional<std::string>& text) { return !text || text->empty(); }

/// Bytes that are equal for two sub-queries if and only if OpenTSDB takes them for one.
Bytes QuestionOf(const SubQuery& query) {
  Bytes out;
  const auto add_flag = [&out](bool flag) { out.push_back(flag ? '\1' : '\0'); };
  const auto add_text = [&](const std::optional<std::string>& text) {
    add_flag(text.has_value());
    if (text) AppendSized(&out, *text);
  };
  for (const auto* text :
       {&query.aggregator, &query.metric, &query.downsample, &query.value_filter})
    add_text(*text);
  for (const bool flag : {query.rate, query.filters_given, query.explicit_tags, query.pre_aggregate,
                          query.show_histogram_buckets})
    add_flag(flag);
  add_flag(query.tsuids.has_value());
  if (query.tsuids) {
    AppendVarint(&out, query.tsuids->size());
    for (const std::string& tsuid : *query.tsuids) AppendSized(&out, tsuid);
  }
  add_flag(query.rate_options.has_value());
  if (query.rate_options) {
    add_flag(query.rate_options->counter);
    add_flag(query.rate_options->drop_resets);
    AppendVarint(&out, static_cast<uint64_t>(query.rate_options->counter_max));
    AppendVarint(&out, static_cast<uint64_t>(query.rate_options->reset_value));
  }
  add_flag(query.percentiles.has_value());
  if (query.percentiles) {
    AppendVarint(&out, query.percentiles->size());
    for (const double p : *query.percentiles) AppendVarint(&out, std::bit_cast<uint64_t>(p));
  }
  for (const FilterSpec& filter : query.filters) AppendSized(&out, FilterIdentity(filter));
  return out;
}

void RemoveRepeats(std::vector<SubQuery>* queries) {
  if (queries->size() < 2) return;
  std::set<Bytes> asked;
  std::erase_if(*queries, [&asked](const SubQuery& query) {
    return !asked.insert(QuestionOf(query)).second;
  });
}

Status DecodeTsuids(const std::vector<std::string>& texts, int metric_width,
                    std::vector<Bytes>* out) {
  size_t metric_bytes = static_cast<size_t>(metric_width);
  for (const std::string& text : texts) {
    if (text.size() < 2 * metric_bytes) {
      return Status::Unsupported("The TSUID '" + text + "' is shorter than a metric UID");
    }
    std::string padded = text.size() % 2 == 0 ? text : "0" + text;
    Bytes bytes;
    if (!FromHex(padded, &bytes)) {
      return Status::InvalidArgument("The TSUID '" + text + "' contains illegal characters");
    }
    if (bytes.size() == metric_bytes) {
      return Status::InvalidArgument("The TSUID '" + text + "' has no tags: UID was empty");
    }
    if (!out->empty() && bytes.compare(0, metric_bytes, out->front(), 0, metric_bytes) != 0) {
      return Status::Unsupported(
          "One or more TSUIDs did not share the same metric: " + texts.front() + " and " + text);
    }
    out->push_back(std::move(bytes));
  }
  return {};
}

// Spec query.md §13.
Status CheckHistograms(ValidSubQuery* query) {
  // Only "sum" itself: zimsum and pfsum add as well, but are refused (recorded).
  if (query->aggregator != FindAggregator("sum") &&
      query->aggregator->function != Function::kNone) {
    return Status::InvalidArgument(
        "Only NONE or SUM aggregation function supported for histogram query");
  }
  if (query->downsample) {
    if (query->downsample->function != FindAggregator("sum")) {
      return Status::InvalidArgument(
          "Only SUM downsampling aggregation supported for histogram query");
    }
    query->downsample->fill = FillPolicy::kNone;
  }
  if (!query->text.percentiles) return {};
  for (const double p : *query->text.percentiles) {
    if (p >= 0 && p <= 100) continue;
    std::string text;
    AppendJavaFloat(&text, static_cast<float>(p));
    return Status::InvalidArgument("Invalid percentile parameters: " + text);
  }
  return {};
}

// `before`: the sub-query before, whose filters are taken where they are the same; or null.
Result<ValidSubQuery> ValidateSubQuery(const SubQuery& text, const Request& request,
                                       int metric_width, const ValidSubQuery* before,
                                       ValidationTrace* trace) {
  ValidSubQuery out;
  out.text = text;
  if (Empty(text.aggregator)) return Status::InvalidArgument("Missing the aggregation function");
  out.aggregator = FindAggregator(*text.aggregator);
  if (out.aggregator == nullptr) {
    return Status::InvalidArgument("No such aggregation function: " + *text.aggregator);
  }
  bool by_tsuid = text.tsuids && !text.tsuids->empty();
  if (!by_tsuid && Empty(text.metric)) {
    return Status::InvalidArgument("Missing the metric or tsuids, provide at least one");
  }
  if (!Empty(text.downsample)) {
    ASSIGN_OR_RETURN(DownsampleSpec spec, ParseDownsample(*text.downsample));
    trace->intervals_ms.push_back(spec.interval_ms());
    if (!Empty(request.timezone)) {
      Result<TimeZone> zone = TimeZone::Find(*request.timezone);
      if (!zone.ok())
        return Status::InvalidArgument("The timezone specification could not be found");
      spec.zone = *zone;
    }
    spec.calendar = !spec.run_all && (spec.calendar || request.use_calendar);
    out.downsample = spec;
  } else {
    trace->intervals_ms.push_back(0);
  }
  out.histograms = AsksForHistograms(text);
  if (out.histograms) RETURN_IF_ERROR(CheckHistograms(&out));
  out.filters.reserve(text.filters.size());
  for (size_t i = 0; i < text.filters.size(); ++i) {
    const FilterSpec& spec = text.filters[i];
    if (before != nullptr && i < before->filters.size() && before->filters[i]->spec() == spec) {
      out.filters.push_back(before->filters[i]);
      continue;
    }
    ASSIGN_OR_RETURN(std::shared_ptr<const TagFilter> filter, TagFilter::Compile(spec));
    out.filters.push_back(std::move(filter));
  }
  if (text.value_filter) {
    ASSIGN_OR_RETURN(out.values, ValueFilter::Parse(*text.value_filter));
    if (out.histograms) {
      return Status::InvalidArgument("The value filter '" + *text.value_filter +
                                     "' does not apply to histograms");
    }
  }
  if (by_tsuid) RETURN_IF_ERROR(DecodeTsuids(*text.tsuids, metric_width, &out.tsuids));
  return out;
}

}  // namespace

bool SameQuestion(const SubQuery& a, const SubQuery& b) {
  return a.aggregator == b.aggregator && a.metric == b.metric && QuestionOf(a) == QuestionOf(b);
}

Result<ValidQuery> ValidateRequest(const Request& request, int64_t now_ms,
                                   const TimeZone& default_zone, int metric_width,
                                   ValidationTrace* trace) {
  if (request.start.empty()) return Status::InvalidArgument("Missing start time");
  ValidQuery out;
  TimeZone zone = default_zone;
  auto parse = [&](const std::string& text) -> Result<int64_t> {
    bool date = text.find('/') != std::string::npos || text.find(':') != std::string::npos;
    if (date && !Empty(request.timezone)) {
      ASSIGN_OR_RETURN(zone, TimeZone::Find(*request.timezone));
    }
    return ParseTime(text, now_ms, zone);
  };
  ASSIGN_OR_RETURN(out.start_ms, parse(request.start));
  out.end_ms = now_ms;
  if (!Empty(request.end)) {
    ASSIGN_OR_RETURN(out.end_ms, parse(*request.end));
  }
  if (out.end_ms <= out.start_ms) {
    return Status::InvalidArgument("End time [" + std::to_string(out.end_ms) +
                                   "] must be greater than the start time [" +
                                   std::to_string(out.start_ms) + "]");
  }
  if (request.queries.empty()) return Status::InvalidArgument("Missing queries");
  out.request = request;
  RemoveRepeats(&out.request.queries);
  out.queries.reserve(out.request.queries.size());
  for (const SubQuery& text : out.request.queries) {
    const ValidSubQuery* const before = out.queries.empty() ? nullptr : &out.queries.back();
    ASSIGN_OR_RETURN(ValidSubQuery query,
                     ValidateSubQuery(text, request, metric_width, before, trace));
    ++trace->valid_queries;
    out.queries.push_back(std::move(query));
  }
  for (int64_t t : {out.start_ms, out.end_ms}) {
    if (t < 0 || t > kTimestampMax)
      return Status::Unsupported("Invalid timestamp: " + std::to_string(t));
  }
  return out;
}

}  // namespace hg::query
