#pragma once
// Parses request bodies for the endpoints at which OpenTSDB sends the error message of its JSON
// parser to the client (opentsdb-http-api.md §16.2, §18).

#include <optional>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "http/wire/json_value.h"

namespace hg::http {

/// Parses the body as JSON. If parsing fails, sends an error reply and returns nullopt. The HTTP
/// status is 500 for a syntax error. The status is 400 if the body is nested too deep, or if a text
/// has only one half of a surrogate pair. OpenTSDB accepts such bodies; in Hourglass, all endpoints
/// reject them with 400. If the request is ended while the body is parsed, the reply is that of
/// SendStatus.
std::optional<JsonValue> ParsedBody(const Request& request, ResponseWriter& out);

}  // namespace hg::http
