#pragma once
// Validates a request as far as this is possible without storage: times, functions, downsampling,
// filters (opentsdb-queries.md §3.3, §3.4).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "query/buckets/aggregator.h"
#include "query/buckets/downsample.h"
#include "query/plan/filter.h"
#include "query/plan/filter_set.h"
#include "query/plan/value_filter.h"
#include "query/request/request.h"
#include "storage/base/request_context.h"
#include "storage/base/shared_vector.h"
#include "storage/base/status.h"

namespace hg::query {

struct ValidSubQuery {
  SubQuery text;
  const Aggregator* aggregator = nullptr;
  std::optional<DownsampleSpec> downsample;
  /// The compiled filters, in the order of text.filters. Sub-queries with equal filter texts share
  /// one list.
  SharedVector<std::shared_ptr<const TagFilter>> filters;
  // The condition for the value of a point; nullopt = no condition.
  std::optional<ValueFilter> values;
  std::vector<Bytes> tsuids;  // decoded TSUIDs; empty: the sub-query selects by metric
  bool histograms = false;    // whether to read histograms instead of points
};

struct ValidQuery {
  Request request;  // without repeated sub-queries
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::vector<ValidSubQuery> queries;
  /// For each sub-query that the client wrote, including repeated ones: the index in `queries` of
  /// the sub-query that OpenTSDB treats as equal to it.
  std::vector<size_t> places;
};

/// The steps of a validation that were completed. The error response needs this information to
/// print the request.
struct ValidationTrace {
  std::vector<int64_t> intervals_ms;  // intervals of the sub-queries whose downsampling was parsed
  size_t valid_queries = 0;
};

/// Validates a request. If OpenTSDB treats several sub-queries as equal, only the first one is
/// kept. FilterIdentity decides whether filters are equal; use_fuzzy_filter, use_multi_gets and
/// rollup_usage are ignored. `trace` gets the steps that were completed. `filters` has the filters
/// that were compiled when the request was parsed; it may be nullptr.
/// The result stays charged to `context`. InvalidArgument: a mistake of the client. Unsupported: a
/// mistake of the client that OpenTSDB answers with 500 (opentsdb-queries.md §3.4). Also fails with
/// errors of `context`.
Result<ValidQuery> ValidateRequest(const Request& request, int64_t now_ms,
                                   const TimeZone& default_zone, int metric_width,
                                   ValidationTrace* trace, RequestContext& context,
                                   FilterSet* filters = nullptr);

}  // namespace hg::query
