#pragma once
// Functions over sub-queries, as written in exp= (spec query.md §12.1): the text taken apart. Pure.

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

/// A metric's place among those of all expressions of the request.
struct GexpMetric {
  size_t index = 0;
};

struct GexpScalar {
  std::string text;
};

using GexpArgument = std::variant<GexpMetric, GexpCall, GexpScalar>;

struct GexpCall {
  GexpFunction function = GexpFunction::kAbsolute;
  std::string name;  // as written
  std::vector<GexpArgument> arguments;
};

/// One expression. The texts of its metrics, which are those of m=, are appended to `metrics`;
/// their indices count from its size. Unsupported: what OpenTSDB answers with 500: syntax, an
/// unknown function, more than kExpressionBytesMax or kExpressionNestingMax.
Result<GexpCall> ParseGexp(std::string_view text, std::vector<std::string>* metrics);

}  // namespace hg::query
