#pragma once
// Parses function expressions: functions over sub-queries, as the parameter exp= contains them
// (opentsdb-queries.md §12.1).

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

/// A function argument that is a metric: the index of its text in the list `metrics` that ParseGexp
/// fills.
struct GexpMetric {
  size_t index = 0;
};

struct GexpScalar {
  std::string text;
};

using GexpArgument = std::variant<GexpMetric, GexpCall, GexpScalar>;

struct GexpCall {
  GexpFunction function = GexpFunction::kAbsolute;
  std::string name;  // text of the function call as the client wrote it
  std::vector<GexpArgument> arguments;
};

/// Parses one expression. Appends the texts of its metrics to `metrics`; each text has the form of
/// the parameter m=. A GexpMetric is an index into `metrics`. Unsupported: an error that OpenTSDB
/// answers with HTTP status 500: invalid syntax, an unknown function, a text longer than
/// kExpressionBytesMax, or nesting deeper than kExpressionNestingMax.
Result<GexpCall> ParseGexp(std::string_view text, std::vector<std::string>* metrics);

}  // namespace hg::query
