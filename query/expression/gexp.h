#pragma once
// Parses function expressions. A function expression applies functions to sub-queries, and is the
// value of the parameter exp= (opentsdb-queries.md §12.1).

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

/// A function argument that is a metric. `index` is the index of its text in the list `metrics`
/// that ParseGexp fills.
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

/// Parses one function expression. Appends the texts of its metrics to `metrics`; each text has the
/// form of the parameter m=. Unsupported: an error that OpenTSDB answers with HTTP status 500.
/// These errors are invalid syntax, an unknown function, a text longer than kExpressionBytesMax,
/// and nesting deeper than kExpressionNestingMax.
Result<GexpCall> ParseGexp(std::string_view text, std::vector<std::string>* metrics);

}  // namespace hg::query
