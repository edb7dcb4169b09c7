#pragma once
// Checks that the operands, arguments and modifiers of an expression have the right types.

#include <string_view>

#include "query/promql/syntax.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// Checks the types in a tree that was parsed from `text`. The message of InvalidArgument describes
/// the wrong type and its place in `text`.
Status CheckTypes(std::string_view text, const Expr& expr);

}  // namespace hg::query::promql
