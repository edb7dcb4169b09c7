#pragma once
// The list of PromQL functions, with the types of their arguments and results. The files
// range_functions, rate_functions, math_functions, date_functions and call_* implement them.

#include <cstddef>
#include <string_view>
#include <vector>

#include "query/promql/syntax.h"

namespace hg::query::promql {

struct FunctionSpec {
  static constexpr size_t kUnlimited = SIZE_MAX;

  std::string_view name;
  /// The types of the arguments. The last type also applies to all further arguments.
  std::vector<ValueType> arguments;
  size_t least = 0, most = 0;  // smallest and largest number of arguments; kUnlimited = no maximum
  ValueType returns = ValueType::kVector;
};

/// Returns the description of the PromQL function `name`, or nullptr if no function has this name.
const FunctionSpec* FindFunction(std::string_view name);

/// Returns whether Prometheus supports the function or aggregation `name` only if a feature flag is
/// set. Hourglass does not support these functions and aggregations.
bool IsExperimental(std::string_view name);

}  // namespace hg::query::promql
