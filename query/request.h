#pragma once
// A query as a client wrote it: texts, nothing resolved (spec query.md §3). http/wire and the
// command line fill it, query/validate checks it. Texts are UTF-8.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hg::query {

/// One tag filter as written (spec query.md §4.1). `type` is a registered name.
struct FilterSpec {
  std::string type;
  std::string tagk;
  std::string filter;
  bool group_by = false;
  /// Set for the legacy form `k=we*b`: matched without case although the type says "wildcard"
  /// (§4.3).
  bool ignore_case = false;

  bool operator==(const FilterSpec&) const = default;
};

struct RateOptions {
  bool counter = false;
  int64_t counter_max = INT64_MAX;
  int64_t reset_value = 0;  // 0 = off
  bool drop_resets = false;

  bool operator==(const RateOptions&) const = default;
};

struct SubQuery {
  std::optional<std::string> aggregator;
  std::optional<std::string> metric;
  std::optional<std::vector<std::string>> tsuids;  // hex; non-empty wins over metric
  std::optional<std::string> downsample;
  bool rate = false;
  std::optional<RateOptions> rate_options;
  std::vector<FilterSpec> filters;
  /// They were given, if only as an empty list: another sub-query than one without for who looks
  /// for equal ones (TSSubQuery.equals).
  bool filters_given = false;
  bool explicit_tags = false;
  bool pre_aggregate = false;
  std::optional<std::string> rollup_usage;
  std::optional<std::vector<double>> percentiles;
  bool show_histogram_buckets = false;
  /// Our extension: which points count (value_filter.h).
  std::optional<std::string> value_filter;
  bool use_fuzzy_filter = true;  // echoed only
  bool use_multi_gets = true;    // echoed only

  bool operator==(const SubQuery&) const = default;
};

/// True if histograms are asked for instead of points (spec query.md §13).
inline bool AsksForHistograms(const SubQuery& query) {
  return (query.percentiles && !query.percentiles->empty()) || query.show_histogram_buckets;
}

struct Request {
  std::string start;
  std::optional<std::string> end;  // none = now
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
