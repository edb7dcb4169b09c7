#pragma once
// Arguments that many endpoints read alike (spec http-api.md §4). Where one is wrong the answer is
// sent here.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response_writer.h"
#include "http/wire/json_value.h"
#include "query/time_zone.h"
#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::http {

struct Services;

/// The verb after method_override, which counts on GET only; none: 405 was sent.
std::optional<Method> OverriddenMethod(const Request& request, ResponseWriter& out);

/// The body as JSON; none: 400 was sent, because there is no body or because it does not parse, or
/// 500 because it is null.
std::optional<JsonValue> RequireJsonBody(const Request& request, ResponseWriter& out);

/// 400 "Unable to parse the given JSON" for a document of the wrong shape.
void SendBadJson(ResponseWriter& out, const Request& request, std::string_view details);

/// The zone of that id; empty: that of the settings. InvalidArgument: unknown.
Result<query::TimeZone> RequestZone(const std::string& id, const Services& services);

/// A time of the query string or a body (query/time_text.h), in the zone of the settings:
/// milliseconds.
Result<int64_t> ParseRequestTime(std::string_view text, const Services& services);

/// The bytes of hexadecimal digits; an odd count is padded on the left.
Result<Bytes> ParseHex(const std::string& text);

/// The parameter, or none if it is absent or empty.
std::optional<std::string> NonEmptyParameter(const Request& request, std::string_view name);

}  // namespace hg::http
