#include "http/wire/query_dump.h"

#include "storage/base/status.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

using query::FilterSpec;
using query::SubQuery;

// Replies show only the beginning of a dump, so the rest of a long text or list is left out.
constexpr size_t kTextBytesMax = kStatusMessageBytesMax;

std::string Text(bool value) { return value ? "true" : "false"; }

std::string Text(const std::string& text) { return Shortened(text, kTextBytesMax); }

std::string Text(const std::optional<std::string>& text) { return text ? Text(*text) : "null"; }

std::string FilterDump(const FilterSpec& filter) {
  std::string out = "filter_name=" + Text(filter.type) + ", tagk=" + Text(filter.tagk) +
                    ", group_by=" + Text(filter.group_by) + ", tagk_bytes=null, config={";
  if (filter.type == "wildcard" || filter.type == "iwildcard") {
    bool any_case = filter.type == "iwildcard" || filter.ignore_case || filter.filter == "*";
    out += "components=[" + Text(filter.filter) + "], case=" + Text(any_case);
  } else {
    out += "filter=" + Text(filter.filter);
  }
  return out + "}";
}

std::string PercentilesDump(const std::optional<std::vector<double>>& percentiles) {
  if (!percentiles) return "null";
  std::string out = "[";
  for (const double p : *percentiles) {
    if (out.size() > kTextBytesMax) break;
    if (out.size() > 1) out += ", ";
    AppendJavaFloat(&out, static_cast<float>(p));
  }
  return out + "]";
}

std::string SubQueryDump(const SubQuery& query, size_t index, const query::ValidationTrace& trace) {
  std::string out = "TSSubQuery(metric=" + Text(query.metric) + ", filters=[";
  for (size_t i = 0; i < query.filters.size() && out.size() < kTextBytesMax; ++i)
    out += (i > 0 ? ", " : "") + FilterDump(query.filters[i]);
  out += "], tsuids=[";
  if (query.tsuids) {
    for (size_t i = 0; i < query.tsuids->size() && out.size() < kTextBytesMax; ++i)
      out += (i > 0 ? ", " : "") + Text((*query.tsuids)[i]);
  }
  int64_t interval = index < trace.intervals_ms.size() ? trace.intervals_ms[index] : 0;
  out += "], agg=" + Text(query.aggregator) + ", downsample=" + Text(query.downsample) +
         ", ds_interval=" + std::to_string(interval) + ", rate=" + Text(query.rate) +
         ", rate_options=";
  if (query.rate_options) {
    out += "{counter=" + Text(query.rate_options->counter) +
           ", counterMax=" + std::to_string(query.rate_options->counter_max) +
           ", resetValue=" + std::to_string(query.rate_options->reset_value) +
           ", dropResets=" + Text(query.rate_options->drop_resets) + "}";
  } else {
    out += "null";
  }
  // OpenTSDB prints the name of this flag instead of its value.
  return out + ", explicit_tags=explicit_tags, index=" +
         std::to_string(index < trace.valid_queries ? index : 0) +
         ", percentiles=" + PercentilesDump(query.percentiles) +
         ", show_histogram_buckets=" + Text(query.show_histogram_buckets) + ")";
}

}  // namespace

std::string QueryDump(const query::Request& request, const query::ValidationTrace& trace) {
  std::string out = "TSQuery(start_time=" + Text(request.start) +
                    ", end_time=" + Text(request.end) + ", subQueries[";
  for (size_t i = 0; i < request.queries.size() && out.size() < kTextBytesMax; ++i) {
    out += (i > 0 ? ", " : "") + SubQueryDump(request.queries[i], i, trace);
  }
  return out + "] padding=" + Text(request.padding) +
         ", no_annotations=" + Text(request.no_annotations) +
         ", with_global_annotations=" + Text(request.global_annotations) +
         ", show_tsuids=" + Text(request.show_tsuids) +
         ", ms_resolution=" + Text(request.ms_resolution) + ", options=[])";
}

}  // namespace hg::http
