#pragma once
// Recognizes request targets of the InfluxDB API without parsing them. The fast path calls these
// functions for every write. The result also determines the form of error replies.

#include <optional>
#include <string_view>

#include "http/access/credentials.h"
#include "http/wire/influx_line.h"

namespace hg::http {

/// The prefix under which VictoriaMetrics serves the paths of InfluxDB. The functions of this
/// header accept paths with and without this prefix, and with or without a slash at the end.
inline constexpr std::string_view kInfluxPrefix = "/influx";

/// The version of the InfluxDB API to which a path belongs. kV1: /write, /query, /ping, /health.
/// kV2: /api/v2/write. kNone: all other paths.
enum class InfluxApi : uint8_t { kNone, kV1, kV2 };
InfluxApi InfluxApiOf(std::string_view target);

/// Returns whether the path of the target is /write or /api/v2/write. The target may have any
/// parameters.
bool IsInfluxWritePath(std::string_view target);

/// Returns the credentials that InfluxDB 1.x clients send in the parameters `u` and `p` of /write
/// and /query. The result has the kind kNone if the target has another path or no parameter `u`.
Credentials InfluxCredentials(std::string_view target);

/// Returns the unit of the timestamps for a write target, which its parameter `precision` selects.
/// Returns nullopt if the target is not a write target, if a parameter contains '%' or '+', or if
/// the precision is unknown. All parameters except `precision` are ignored, because none of them
/// changes the meaning of the lines. If such a parameter is added to the server, this function must
/// return nullopt for it, because the fast path uses only the returned unit.
std::optional<InfluxUnit> PlainInfluxUnit(std::string_view target);

}  // namespace hg::http
