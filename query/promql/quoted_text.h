#pragma once
// Quoted strings: '…' and "…" with Go's escapes, `…` without escapes.

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query::promql {

/// Parses a quoted string at the front of `rest`, which begins with the quote, and removes it from
/// `rest`. NotFound: the string has no end. InvalidArgument: the string has an unknown escape, and
/// `rest` then begins with that escape; or the string is not UTF-8.
Status TakeQuotedText(std::string_view* rest, std::string* value);

}  // namespace hg::query::promql
