#pragma once
// Validates the parts of a request that can be checked without storage: times, functions,
// downsampling specifications and filters (opentsdb-queries.md §3.3, §3.4).

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
  /// The compiled filters, in the order of text.filters. Sub-queries whose filter texts are equal
  /// share one list.
  SharedVector<std::shared_ptr<const TagFilter>> filters;
  // The condition that the value of a point must fulfil; nullopt: the sub-query has no condition.
  std::optional<ValueFilter> values;
  /// The TSUIDs that the sub-query selects, as bytes. If the list is empty, the sub-query selects
  /// its series by metric and filters.
  std::vector<Bytes> tsuids;
  bool histograms = false;  // whether the sub-query reads histograms instead of points
};

struct ValidQuery {
  Request request;  // the validated request, without repeated sub-queries
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::vector<ValidSubQuery> queries;
  /// Has one element for each sub-query that the client wrote, including repeated ones. The element
  /// is the index in `queries` of the sub-query that OpenTSDB treats as equal.
  std::vector<size_t> places;
};

/// The steps of a validation that were completed. An error response that prints the request needs
/// this information.
struct ValidationTrace {
  /// Interval of each sub-query whose downsampling was parsed, in ms.
  std::vector<int64_t> intervals_ms;
  size_t valid_queries = 0;
};

/// Validates a request. If OpenTSDB treats several sub-queries as equal, only the first of them is
/// kept. Filters of sub-queries are compared with FilterIdentity. The comparison of sub-queries
/// ignores use_fuzzy_filter, use_multi_gets and rollup_usage. Sets `*trace` to the steps that were
/// completed, also after an error. `filters` contains the filters that were compiled when the
/// request was parsed; it may be nullptr. The memory of the result stays charged to `context`.
///
/// InvalidArgument: a mistake of the client. Unsupported: a mistake of the client that OpenTSDB
/// answers with HTTP status 500 (opentsdb-queries.md §3.4). Also returns the errors of `context`.
Result<ValidQuery> ValidateRequest(const Request& request, int64_t now_ms,
                                   const TimeZone& default_zone, int metric_width,
                                   ValidationTrace* trace, RequestContext& context,
                                   FilterSet* filters = nullptr);

}  // namespace hg::query
