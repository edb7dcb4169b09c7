#pragma once
// Parses quoted strings: '…' and "…" may contain escapes as in Go; `…` contains no escapes.

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query::promql {

/// Parses a quoted string at the start of `*rest`, removes it from `*rest`, and stores its value in
/// `*value`. The first character of `*rest` must be the quote. NotFound: the string has no end.
/// InvalidArgument: the string is not UTF-8, or it has an unknown escape. If an escape is unknown,
/// `*rest` begins with this escape after the call.
Status TakeQuotedText(std::string_view* rest, std::string* value);

}  // namespace hg::query::promql
