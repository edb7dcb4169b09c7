#pragma once
// The functions of PromQL: types of arguments and results. The computations are in
// range_functions.h, math_functions.h, date_functions.h and call_*.cc.

#include <cstddef>
#include <string_view>
#include <vector>

#include "query/promql/syntax.h"

namespace hg::query::promql {

struct FunctionSpec {
  static constexpr size_t kUnlimited = SIZE_MAX;

  std::string_view name;
  std::vector<ValueType> arguments;  // types; all further arguments have the last type
  size_t least = 0, most = 0;        // number of arguments
  ValueType returns = ValueType::kVector;
};

/// Returns the function with that name, or nullptr if there is none.
const FunctionSpec* FindFunction(std::string_view name);

/// Returns whether Prometheus has a function or an aggregation of that name only if a feature flag
/// is set. Hourglass does not support such functions.
bool IsExperimental(std::string_view name);

}  // namespace hg::query::promql
