#pragma once
// Checks that operands, arguments and modifiers of an expression fit each other.

#include <string_view>

#include "query/promql/syntax.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// Checks a tree that was parsed from `text`. The message of InvalidArgument says what does not fit
/// and where in `text`.
Status CheckTypes(std::string_view text, const Expr& expr);

}  // namespace hg::query::promql
