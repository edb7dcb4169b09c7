#pragma once
// Whether operands, arguments and modifiers of an expression fit each other.

#include <string_view>

#include "query/promql/syntax.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// InvalidArgument: what does not fit, and where in `text`, which the tree was made of.
Status CheckTypes(std::string_view text, const Expr& expr);

}  // namespace hg::query::promql
