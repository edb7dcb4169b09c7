#pragma once
// Parses request bodies for endpoints at which OpenTSDB returns the error message of its parser
// (opentsdb-http-api.md §16.2, §18).

#include <optional>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "http/wire/json_value.h"

namespace hg::http {

/// Parses the body as JSON. If this fails, sends an error and returns nullopt: 500 for a syntax
/// error, 400 if the body is nested too deep or has half a surrogate pair. These two limits do not
/// exist in OpenTSDB; all endpoints report them with 400.
std::optional<JsonValue> ParsedBody(const Request& request, ResponseWriter& out);

}  // namespace hg::http
