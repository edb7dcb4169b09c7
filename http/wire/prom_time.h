#pragma once
// Parses times and durations in parameters of Prometheus' HTTP API. All functions are pure.

#include <cstdint>
#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

/// Parses a time such as "1435781430.781" (seconds) or "2015-07-01T20:10:51.781Z" (RFC 3339).
/// Returns milliseconds, rounded to the nearest. The message of InvalidArgument contains the text.
Result<int64_t> ParsePromTime(std::string_view text);

/// Parses a duration such as "15.5" (seconds) or "1h30m". Returns milliseconds, with the fraction
/// cut off. The message of InvalidArgument contains the text.
Result<int64_t> ParsePromDuration(std::string_view text);

}  // namespace hg::http
