#pragma once
// The functions of PromQL: what they take and give. What they compute stands in range_functions.h,
// math_functions.h, date_functions.h and call_*.cc.

#include <cstddef>
#include <string_view>
#include <vector>

#include "query/promql/syntax.h"

namespace hg::query::promql {

struct FunctionSpec {
  static constexpr size_t kUnlimited = SIZE_MAX;

  std::string_view name;
  std::vector<ValueType> arguments;  // the type of the last one is that of all further ones
  size_t least = 0, most = 0;        // arguments
  ValueType returns = ValueType::kVector;
};

/// nullptr: there is none of that name.
const FunctionSpec* FindFunction(std::string_view name);

}  // namespace hg::query::promql
