#pragma once
// Parses functions over sub-queries, as written in exp= (opentsdb-queries.md §12.1).

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "storage/base/status.h"

namespace hg::query {

enum class GexpFunction : uint8_t {
  kAbsolute,
  kScale,
  kAlias,
  kMovingAverage,
  kHighestMax,
  kHighestCurrent,
  kShift,
  kSum,
  kDifference,
  kMultiply,
  kDivide,
};

struct GexpCall;

/// Index of a metric among the metrics of all expressions of the request.
struct GexpMetric {
  size_t index = 0;
};

struct GexpScalar {
  std::string text;
};

using GexpArgument = std::variant<GexpMetric, GexpCall, GexpScalar>;

struct GexpCall {
  GexpFunction function = GexpFunction::kAbsolute;
  std::string name;  // text of the metric as the client wrote it
  std::vector<GexpArgument> arguments;
};

/// Parses one expression. Appends the texts of its metrics, which have the form of m=, to
/// `metrics`; a GexpMetric is an index into it. Unsupported: errors that OpenTSDB answers with 500,
/// that is invalid syntax, an unknown function, or more than kExpressionBytesMax or
/// kExpressionNestingMax.
Result<GexpCall> ParseGexp(std::string_view text, std::vector<std::string>* metrics);

}  // namespace hg::query
