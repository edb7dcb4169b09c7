#pragma once
// A request as one line of text, for the details of a validation error (opentsdb-http-api.md §10.6;
// OpenTSDB TSQuery.toString).

#include <string>

#include "query/request.h"
#include "query/validate.h"

namespace hg::http {

/// Intervals and indices are printed as far as validation had computed them.
std::string QueryDump(const query::Request& request, const query::ValidationTrace& trace);

}  // namespace hg::http
