#pragma once
// A request of POST /api/query/exp as the client wrote it (opentsdb-queries.md §11.1). All texts
// are UTF-8.

#include <optional>
#include <string>
#include <vector>

#include "query/buckets/downsample.h"
#include "query/expression/identity.h"
#include "query/request/request.h"

namespace hg::query {

/// The fill policy of a metric or an expression: the value that replaces missing values.
struct NumericFill {
  FillPolicy policy = FillPolicy::kZero;
  double value = 0;  // the replacement value; NaN for kNone, kNan and kNull
};

struct ExpDownsampler {
  std::optional<std::string> interval, aggregator;
  /// The evaluation ignores this value (opentsdb-queries.md, quirk Q15).
  std::optional<NumericFill> fill;
};

struct ExpTime {
  std::optional<std::string> start, end, timezone, aggregator;
  std::optional<ExpDownsampler> downsampler;
  bool rate = false;
};

struct ExpFilter {
  std::optional<std::string> id;
  SharedVector<FilterSpec> tags;
  /// Whether the request has no `tags` or has null instead of a list. This is an error (HTTP status
  /// 500) if a metric uses the filter.
  bool tags_missing = false;
  bool explicit_tags = false;
};

struct ExpMetric {
  std::optional<std::string> id, metric, filter, aggregator, time_offset;
  std::optional<NumericFill> fill;
};

struct ExpExpression {
  std::optional<std::string> id, expr;
  JoinRule join;
  /// The evaluation ignores this value, but the response repeats it.
  std::optional<NumericFill> fill;
};

struct ExpOutput {
  std::optional<std::string> id, alias;
};

struct ExpRequest {
  std::optional<std::string> name;
  std::optional<ExpTime> time;
  std::optional<std::vector<ExpFilter>> filters;
  std::vector<ExpMetric> metrics;
  std::optional<std::vector<ExpExpression>> expressions;
  std::optional<std::vector<ExpOutput>> outputs;
};

}  // namespace hg::query
