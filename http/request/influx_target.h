#pragma once
// Recognizes request targets of the InfluxDB API without parsing them. Used by the fast path for
// every write, and to choose the form of errors.

#include <optional>
#include <string_view>

#include "http/access/credentials.h"
#include "http/wire/influx_line.h"

namespace hg::http {

/// The API version that a path belongs to. kV1: /write, /query, /ping, /health. kV2: /api/v2/write.
enum class InfluxApi : uint8_t { kNone, kV1, kV2 };
InfluxApi InfluxApiOf(std::string_view target);

/// Returns true for /write and /api/v2/write, with any parameters.
bool IsInfluxWritePath(std::string_view target);

/// Reads the credentials that InfluxDB 1.x clients send as `u` and `p` in the target of /write and
/// /query. kNone: the target has no parameter `u`, or is not /write or /query.
Credentials InfluxCredentials(std::string_view target);

/// The unit of timestamps of a write target. nullopt: not a write target, a parameter with
/// percent-escapes, or an unknown precision.
std::optional<InfluxUnit> PlainInfluxUnit(std::string_view target);

}  // namespace hg::http
