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

/// An argument that is a metric: its index in the list that ParseGexp returns in `metrics`.
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
/// `metrics`; a GexpMetric is an index into this list. Unsupported: an error that OpenTSDB answers
/// with 500: invalid syntax, an unknown function, or a text above kExpressionBytesMax or
/// kExpressionNestingMax.
Result<GexpCall> ParseGexp(std::string_view text, std::vector<std::string>* metrics);

}  // namespace hg::query
