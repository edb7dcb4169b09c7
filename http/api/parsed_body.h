#pragma once
// Bodies of endpoints where OpenTSDB lets its parser's complaint through (spec http-api.md §16.2,
// §18).

#include <optional>

#include "http/request.h"
#include "http/response_writer.h"
#include "http/wire/json_value.h"

namespace hg::http {

/// The body as JSON; none: 500 was sent, as it does not parse, or 400, as it is nested too deep:
/// that is a limit of our own, which has one answer everywhere.
std::optional<JsonValue> ParsedBody(const Request& request, ResponseWriter& out);

}  // namespace hg::http
