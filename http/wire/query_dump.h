#pragma once
// A request as one line of text: the details of a validation error (spec http-api.md §10.6;
// OpenTSDB TSQuery.toString).

#include <string>

#include "query/request.h"
#include "query/validate.h"

namespace hg::http {

/// Intervals and indices are those that validation had come to.
std::string QueryDump(const query::Request& request, const query::ValidationTrace& trace);

}  // namespace hg::http
