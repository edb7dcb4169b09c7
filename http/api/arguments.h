#pragma once
// Parses arguments that many endpoints share (opentsdb-http-api.md §4). If an argument is invalid,
// these functions send the error reply themselves.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "http/wire/json_value.h"
#include "query/time/time_zone.h"
#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::http {

struct Services;

/// Returns the method of the request. A GET request may name another method in the parameter
/// method_override. If that method is unknown, sends 405 and returns nullopt.
std::optional<Method> OverriddenMethod(const Request& request, ResponseWriter& out);

/// Parses the body as JSON. On failure sends an error and returns nullopt: 400 if the body is
/// missing or does not parse, 500 if it is the JSON value null.
std::optional<JsonValue> RequireJsonBody(const Request& request, ResponseWriter& out);

/// Sends 400 "Unable to parse the given JSON", for a document that has the wrong structure.
void SendBadJson(ResponseWriter& out, const Request& request, std::string_view details);

/// Returns the time zone with that id. An empty id means the configured time zone. InvalidArgument:
/// unknown id.
Result<query::TimeZone> RequestZone(const std::string& id, const Services& services);

/// Parses a time in a query string or body (query/time/time_text.h), in the configured time zone.
/// Returns milliseconds.
Result<int64_t> ParseRequestTime(std::string_view text, const Services& services);

/// Decodes hexadecimal digits. An odd number of digits is padded with 0 on the left.
Result<Bytes> ParseHex(const std::string& text);

/// Returns the value of the parameter, or nullopt if it is absent or empty.
std::optional<std::string> NonEmptyParameter(const Request& request, std::string_view name);

}  // namespace hg::http
