#pragma once
// A query as the client wrote it. The texts are in UTF-8 and are not parsed yet
// (opentsdb-queries.md §3). http/wire and the command line create a Request, and
// query/plan/validate.h checks it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/shared_vector.h"

namespace hg::query {

/// One tag filter as the client wrote it (opentsdb-queries.md §4.1). `type` is the name of the
/// filter type, for example "wildcard".
struct FilterSpec {
  std::string type;
  std::string tagk;
  std::string filter;
  bool group_by = false;
  /// Whether the filter ignores case although its type does not. This is true for filters in the
  /// old form `k=we*b`, whose type is "wildcard" (opentsdb-queries.md §4.3).
  bool ignore_case = false;

  bool operator==(const FilterSpec&) const = default;
};

struct RateOptions {
  bool counter = false;
  int64_t counter_max = INT64_MAX;
  /// If a counter decreases and its rate is above this value, the rate becomes 0; 0 = off.
  int64_t reset_value = 0;
  bool drop_resets = false;

  bool operator==(const RateOptions&) const = default;
};

struct SubQuery {
  std::optional<std::string> aggregator;
  std::optional<std::string> metric;
  /// TSUIDs in hexadecimal. If the list is not empty, the sub-query selects its series by TSUIDs
  /// instead of by metric.
  std::optional<SharedVector<std::string>> tsuids;
  std::optional<std::string> downsample;
  bool rate = false;
  std::optional<RateOptions> rate_options;
  SharedVector<FilterSpec> filters;
  /// Whether the request has a list of filters, even if the list is empty. OpenTSDB treats a
  /// sub-query with an empty list as different from a sub-query without a list (TSSubQuery.equals).
  bool filters_given = false;
  bool explicit_tags = false;
  bool pre_aggregate = false;
  std::optional<std::string> rollup_usage;
  std::optional<std::vector<double>> percentiles;
  bool show_histogram_buckets = false;
  /// Hourglass extension: the condition that the value of a point must fulfil, for example ">= 10"
  /// (query/plan/value_filter.h).
  std::optional<std::string> value_filter;
  bool use_fuzzy_filter = true;  // has no effect, except that the response repeats the value
  bool use_multi_gets = true;    // has no effect, except that the response repeats the value

  bool operator==(const SubQuery&) const = default;
};

/// Returns whether the sub-query requests histograms instead of points (opentsdb-queries.md §13).
inline bool AsksForHistograms(const SubQuery& query) {
  return (query.percentiles && !query.percentiles->empty()) || query.show_histogram_buckets;
}

struct Request {
  std::string start;
  std::optional<std::string> end;  // end time of the query; nullopt = now
  std::optional<std::string> timezone;
  std::vector<SubQuery> queries;

  bool ms_resolution = false;
  bool show_tsuids = false;
  bool show_query = false;
  bool show_stats = false;
  bool show_summary = false;
  bool no_annotations = false;
  bool global_annotations = false;
  bool padding = false;
  bool delete_rows = false;
  bool use_calendar = false;
  bool override_byte_limit = false;
  bool override_cell_limit = false;

  bool operator==(const Request&) const = default;
};

}  // namespace hg::query
