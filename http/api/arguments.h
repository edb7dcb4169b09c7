#pragma once
// Parses arguments that many endpoints have in common (opentsdb-http-api.md §4). If an argument is
// invalid, functions with a parameter of the type ResponseWriter send the error reply themselves.

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

/// Returns the method of the request. If a GET request has the parameter method_override, returns
/// the method in this parameter. If the method in the parameter is unknown, sends 405 and returns
/// nullopt.
std::optional<Method> OverriddenMethod(const Request& request, ResponseWriter& out);

/// Parses the body as JSON. On failure, sends an error reply and returns nullopt. The HTTP status
/// is 400 if the body is missing, is not JSON or is nested too deep, and 500 if the body is the
/// JSON value null. If the request is ended while the body is parsed, the reply is that of
/// SendStatus.
std::optional<JsonValue> RequireJsonBody(const Request& request, ResponseWriter& out);

/// Sends 400 "Unable to parse the given JSON". Handlers call this function for a document that is
/// JSON but has the wrong structure.
void SendBadJson(ResponseWriter& out, const Request& request, std::string_view details);
/// Sends the error of a document that was not read. For InvalidArgument, the reply is 400 "Unable
/// to parse the given JSON" with the message as details. All other errors are sent by SendStatus.
void SendReadFailure(ResponseWriter& out, const Request& request, const Status& status);

/// Returns the time zone with the id `id`, such as "Europe/Berlin". An empty id selects the
/// configured time zone. InvalidArgument: the id is unknown.
Result<query::TimeZone> RequestZone(const std::string& id, const Services& services);

/// Parses a time from a query string or a body (query/time/time_text.h), and returns milliseconds
/// since the epoch. A text without a time zone is in the configured time zone.
Result<int64_t> ParseRequestTime(std::string_view text, const Services& services);

/// Decodes hexadecimal digits to bytes. If the number of digits is odd, a 0 is added on the left.
/// InvalidArgument: the text has a character that is not a hexadecimal digit.
Result<Bytes> ParseHex(const std::string& text);

/// Returns the value of the parameter, or nullopt if the parameter is absent or its value is empty.
std::optional<std::string> NonEmptyParameter(const Request& request, std::string_view name);

}  // namespace hg::http
