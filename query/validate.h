#pragma once
// A request checked as far as that is possible without storage: times, functions, downsampling,
// filters (spec query.md §3.3, §3.4). Pure but for the clock and the zone.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "query/aggregator.h"
#include "query/downsample.h"
#include "query/filter.h"
#include "query/request.h"
#include "query/value_filter.h"
#include "storage/base/status.h"

namespace hg::query {

struct ValidSubQuery {
  SubQuery text;
  const Aggregator* aggregator = nullptr;
  std::optional<DownsampleSpec> downsample;
  std::vector<std::shared_ptr<const TagFilter>> filters;  // as written, same order as text.filters
  std::optional<ValueFilter> values;                      // that count; none = all
  std::vector<Bytes> tsuids;                              // decoded; empty = by metric
  bool histograms = false;                                // of histograms instead of points
};

struct ValidQuery {
  Request request;  // its sub-queries without repeats
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::vector<ValidSubQuery> queries;
};

/// How far a validation came: for the dump of the request that goes with an error.
struct ValidationTrace {
  std::vector<int64_t> intervals_ms;  // of the sub-queries whose downsampling was read
  size_t valid_queries = 0;
};

/// Whether OpenTSDB takes two sub-queries for one, of which it runs the first only. The filters are
/// compared by SameFilter; use_fuzzy_filter, use_multi_gets and rollup_usage do not count.
bool SameQuestion(const SubQuery& a, const SubQuery& b);

/// InvalidArgument: the client's mistake. Unsupported: one that OpenTSDB answers with 500 (§3.4).
Result<ValidQuery> ValidateRequest(const Request& request, int64_t now_ms,
                                   const TimeZone& default_zone, int metric_width,
                                   ValidationTrace* trace);

}  // namespace hg::query
