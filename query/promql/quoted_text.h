#pragma once
// Texts in quotes: '…' and "…" with Go's escapes, `…` as it stands. Pure.

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query::promql {

/// Takes a quoted text off the front of `rest`, which begins with its quote. NotFound: it has no
/// end. InvalidArgument: an escape that there is not, at which `rest` then begins; or the text is
/// not UTF-8.
Status TakeQuotedText(std::string_view* rest, std::string* value);

}  // namespace hg::query::promql
