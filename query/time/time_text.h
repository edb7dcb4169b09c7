#pragma once
// Parses the times of a query: "now", "1h-ago", dates, seconds, milliseconds (opentsdb-queries.md
// §3.3; OpenTSDB class DateTime).

#include <cstdint>
#include <string_view>

#include "query/time/time_zone.h"
#include "storage/base/status.h"

namespace hg::query {

/// Parses a time and returns milliseconds since the epoch. `now_ms` is the current time, from which
/// relative times are computed. Dates are in the time zone `zone`. Parts of a date that are out of
/// range roll over: month 13 is January of the next year. The message of InvalidArgument contains
/// `text` and describes the error.
Result<int64_t> ParseTime(std::string_view text, int64_t now_ms, const TimeZone& zone);

}  // namespace hg::query
