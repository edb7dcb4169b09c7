#pragma once
// Recognizes request targets of the InfluxDB API without parsing them. The fast path uses these
// functions for every write. They also determine the form of error replies.

#include <optional>
#include <string_view>

#include "http/access/credentials.h"
#include "http/wire/influx_line.h"

namespace hg::http {

/// VictoriaMetrics has the paths of InfluxDB behind this prefix. The functions of this header
/// accept the paths with and without the prefix, and with a slash at the end.
inline constexpr std::string_view kInfluxPrefix = "/influx";

/// The API version of a path. kV1: /write, /query, /ping, /health. kV2: /api/v2/write.
enum class InfluxApi : uint8_t { kNone, kV1, kV2 };
InfluxApi InfluxApiOf(std::string_view target);

/// Returns whether the path is /write or /api/v2/write, with any parameters.
bool IsInfluxWritePath(std::string_view target);

/// Returns the credentials that InfluxDB 1.x clients send as `u` and `p` in the target of /write
/// and /query. The result is kNone if the path is another one or there is no parameter `u`.
Credentials InfluxCredentials(std::string_view target);

/// Returns the unit of timestamps for a write target. Returns nullopt if the target is no write
/// target, has a parameter with percent-escapes, or has an unknown precision. Ignores the values of
/// all other parameters. The fast path uses only the returned unit, so this function must return
/// nullopt for every other parameter that changes the meaning of lines.
std::optional<InfluxUnit> PlainInfluxUnit(std::string_view target);

}  // namespace hg::http
