#pragma once
// How one event of the log is written: one line, whatever its text holds.

#include <cstdint>
#include <string>
#include <string_view>

#include "tsd/log.h"

namespace hg::tsd {

/// "2026-01-31 12:00:00.123 info: text" with the process' own time zone, or a JSON object with
/// "time" (UTC), "level", "thread" and "message". Without a line end. `time_ms`: since the epoch.
std::string LogLine(LogFormat format, LogLevel level, int64_t time_ms, uint64_t thread,
                    std::string_view text);

/// The text with its line ends as \n and \r, so that it stays one line.
std::string OneLine(std::string_view text);

}  // namespace hg::tsd
