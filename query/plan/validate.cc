#include "query/plan/validate.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "query/plan/filter.h"
#include "query/time/time_text.h"
#include "storage/base/sized_bytes.h"
#include "storage/model/number_text.h"
#include "storage/model/timestamp.h"

namespace hg::query {
namespace {

// Approximate memory of a text in a vector or a set, and of a compiled filter.
constexpr size_t kTextBytes = 2 * sizeof(std::string);
constexpr size_t kFilterBytes = 512;

/// Finds sub-queries that OpenTSDB treats as equal. Its memory is charged until it is destroyed.
class Questions {
 public:
  explicit Questions(RequestContext& context) : memory_(&context) {}

  /// Returns the index of the first sub-query that OpenTSDB treats as equal to `query`. If there is
  /// none, the result is `next`, and `query` gets this index.
  Result<size_t> PlaceOf(const SubQuery& query, size_t next) {
    ASSIGN_OR_RETURN(const size_t filters, NumberOf(query.filters));
    size_t listed = query.percentiles ? query.percentiles->size() : 0;
    if (query.tsuids) listed += kTextBytes / sizeof(double) * query.tsuids->size();
    RETURN_IF_ERROR(memory_.Step(kFilterSteps + listed));
    RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(kFilterBytes + listed * 2 * sizeof(double))));
    return places_.try_emplace(QuestionOf(query, filters), next).first->second;
  }

 private:
  /// Returns a number for a list of filters. Lists that OpenTSDB treats as equal get equal numbers.
  Result<size_t> NumberOf(const SharedVector<FilterSpec>& filters) {
    const auto known = by_vector_.find(filters.identity());
    if (known != by_vector_.end()) return known->second;
    size_t bytes = kFilterBytes;
    for (const FilterSpec& filter : filters)
      bytes += kTextBytes + filter.tagk.size() + filter.filter.size();
    RETURN_IF_ERROR(memory_.Step(filters.size() * kFilterSteps + bytes / kTextBytesPerStep));
    RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(2 * bytes)));
    Bytes identity;
    for (const FilterSpec& filter : filters) {
      ASSIGN_OR_RETURN(const Bytes one, FilterIdentity(filter, *memory_.context()));
      AppendSized(&identity, one);
    }
    const size_t number = numbers_.try_emplace(std::move(identity), numbers_.size()).first->second;
    by_vector_.emplace(filters.identity(), number);
    return number;
  }

  /// Returns bytes that are equal for two sub-queries if and only if OpenTSDB treats them as equal.
  static Bytes QuestionOf(const SubQuery& query, size_t filters) {
    Bytes out;
    const auto add_flag = [&out](bool flag) { out.push_back(flag ? '\1' : '\0'); };
    const auto add_text = [&](const std::optional<std::string>& text) {
      add_flag(text.has_value());
      if (text) AppendSized(&out, *text);
    };
    for (const auto* text :
         {&query.aggregator, &query.metric, &query.downsample, &query.value_filter})
      add_text(*text);
    for (const bool flag : {query.rate, query.filters_given, query.explicit_tags,
                            query.pre_aggregate, query.show_histogram_buckets})
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
    AppendVarint(&out, filters);
    return out;
  }

  MemoryTally memory_;
  std::map<Bytes, size_t> places_;
  std::map<Bytes, size_t> numbers_;          // by the identities of the filters
  std::map<const void*, size_t> by_vector_;  // the same numbers, by the address of a shared vector
};

Status RemoveRepeats(const std::vector<SubQuery>& asked, RequestContext& context, ValidQuery* out) {
  if (asked.size() < 2) {
    out->places.assign(asked.size(), 0);
    return {};
  }
  Questions questions(context);
  std::vector<SubQuery> once;
  for (const SubQuery& query : asked) {
    ASSIGN_OR_RETURN(const size_t place, questions.PlaceOf(query, once.size()));
    out->places.push_back(place);
    if (place == once.size()) once.push_back(query);
  }
  if (once.size() < asked.size()) out->request.queries = std::move(once);
  return {};
}

/// Returns the memory of a sub-query and its copies, without the data that the copies share.
size_t BytesOfCopies(const SubQuery& query) {
  // The copies are in the request, the validated query, the running request and the query text.
  constexpr size_t kCopies = 4;
  size_t bytes = sizeof(ValidSubQuery) + kCopies * sizeof(SubQuery);
  for (const auto* text : {&query.metric, &query.downsample, &query.value_filter})
    if (*text) bytes += kCopies * (*text)->size();
  if (query.percentiles) bytes += kCopies * sizeof(double) * query.percentiles->size();
  return bytes;
}

Status DecodeTsuids(const std::vector<std::string>& texts, int metric_width,
                    RequestContext& context, std::vector<Bytes>* out) {
  size_t metric_bytes = static_cast<size_t>(metric_width);
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(Bytes) + text.size() / 2;
  RETURN_IF_ERROR(context.Step(texts.size() + bytes / kTextBytesPerStep));
  RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(bytes)));
  out->reserve(texts.size());
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

// Checks the rules for histograms (opentsdb-queries.md §13).
Status CheckHistograms(ValidSubQuery* query) {
  // Of the functions that add values, only "sum" is accepted; zimsum and pfsum are refused
  // (recorded).
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

/// The compiled filters of one request. A list that sub-queries share is compiled only once.
class CompiledFilters {
 public:
  explicit CompiledFilters(FilterSet* filters) : filters_(*filters) {}

  using Filters = SharedVector<std::shared_ptr<const TagFilter>>;

  Result<Filters> Compile(const SharedVector<FilterSpec>& specs) {
    if (specs.empty()) return Filters();
    const auto known = by_vector_.find(specs.identity());
    if (known != by_vector_.end()) return known->second;
    std::vector<std::shared_ptr<const TagFilter>> filters;
    filters.reserve(specs.size());
    for (const FilterSpec& spec : specs) {
      ASSIGN_OR_RETURN(std::shared_ptr<const TagFilter> filter, filters_.Get(spec));
      filters.push_back(std::move(filter));
    }
    Filters shared(std::move(filters));
    by_vector_.emplace(specs.identity(), shared);
    return shared;
  }

 private:
  FilterSet& filters_;
  std::map<const void*, Filters> by_vector_;
};

Result<ValidSubQuery> ValidateSubQuery(const SubQuery& text, const Request& request,
                                       int metric_width, CompiledFilters* filters,
                                       ValidationTrace* trace, RequestContext& context) {
  RETURN_IF_ERROR(context.Step(kFilterSteps));
  RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(BytesOfCopies(text))));
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
  ASSIGN_OR_RETURN(out.filters, filters->Compile(text.filters));
  if (text.value_filter) {
    ASSIGN_OR_RETURN(out.values, ValueFilter::Parse(*text.value_filter));
    if (out.histograms) {
      return Status::InvalidArgument("The value filter '" + *text.value_filter +
                                     "' does not apply to histograms");
    }
    if (request.delete_rows) {
      return Status::InvalidArgument("A delete query cannot have the value filter '" +
                                     *text.value_filter +
                                     "', because it deletes all points of whole hours");
    }
  }
  if (by_tsuid) RETURN_IF_ERROR(DecodeTsuids(*text.tsuids, metric_width, context, &out.tsuids));
  return out;
}

}  // namespace

Result<ValidQuery> ValidateRequest(const Request& request, int64_t now_ms,
                                   const TimeZone& default_zone, int metric_width,
                                   ValidationTrace* trace, RequestContext& context,
                                   FilterSet* filters) {
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
  RETURN_IF_ERROR(RemoveRepeats(request.queries, context, &out));
  out.queries.reserve(out.request.queries.size());
  FilterSet own(context);
  CompiledFilters lists(filters != nullptr ? filters : &own);
  for (const SubQuery& text : out.request.queries) {
    ASSIGN_OR_RETURN(ValidSubQuery query,
                     ValidateSubQuery(text, request, metric_width, &lists, trace, context));
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
