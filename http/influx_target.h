#pragma once
// Which request targets are InfluxDB's, seen without splitting them: the fast way's question about
// every write, and the form of every refusal.

#include <optional>
#include <string_view>

#include "http/access/credentials.h"
#include "http/wire/influx_line.h"

namespace hg::http {

/// Whose API a path belongs to. kV1: /write, /query, /ping, /health. kV2: /api/v2/write.
enum class InfluxApi : uint8_t { kNone, kV1, kV2 };
InfluxApi InfluxApiOf(std::string_view target);

/// True for both paths of lines, whatever their parameters.
bool IsInfluxWritePath(std::string_view target);

/// What InfluxDB 1.x' clients say of themselves in the target of /write and /query, by `u` and `p`;
/// kNone where there is no `u`, and of other targets.
Credentials InfluxCredentials(std::string_view target);

/// The unit of times, where the target is one of lines whose parameters hold no escapes and a known
/// precision.
std::optional<InfluxUnit> PlainInfluxUnit(std::string_view target);

}  // namespace hg::http
