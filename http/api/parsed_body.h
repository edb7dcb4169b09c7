#pragma once
// Bodies of endpoints where OpenTSDB returns its parser's error message (opentsdb-http-api.md
// §16.2, §18).

#include <optional>

#include "http/request.h"
#include "http/response_writer.h"
#include "http/wire/json_value.h"

namespace hg::http {

/// The body as JSON. nullopt: an error was sent: 500 if it does not parse, 400 if it is nested too
/// deep. The nesting limit is Hourglass's own and is 400 everywhere.
std::optional<JsonValue> ParsedBody(const Request& request, ResponseWriter& out);

}  // namespace hg::http
