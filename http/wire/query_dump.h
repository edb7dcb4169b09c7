#pragma once
// Prints a request as one line of text for the details of a validation error (opentsdb-http-api.md
// §10.6; OpenTSDB TSQuery.toString).

#include <string>

#include "query/plan/validate.h"
#include "query/request/request.h"

namespace hg::http {

/// Returns the text of a request. The text contains the intervals and indices of sub-queries only
/// if the validation computed them before it failed.
std::string QueryDump(const query::Request& request, const query::ValidationTrace& trace);

}  // namespace hg::http
