#pragma once
// How one event of the log is written: one line, whatever its texts hold.

#include <cstdint>
#include <string>
#include <string_view>

#include "tsd/log.h"

namespace hg::tsd {

/// Borrows.
struct LogEvent {
  LogLevel level = LogLevel::kInfo;
  int64_t time_ms = 0;  // since the epoch
  uint64_t thread = 0;
  std::string_view component, message;
  const LogFields& fields;
};

/// "2026-01-31 12:00:00.123 info: " with the process' own time zone, then LogText; or a JSON object
/// with "time" (UTC), "level", "thread", "component", "message" and a member for each field.
/// Without a line end.
std::string LogLine(LogFormat format, const LogEvent& event);

/// "message component=store path=/data error="no such file": made"": values in quotes where they
/// are not one plain word, with \" \\ \n \r and \x1B for what would end or disguise them.
std::string LogText(const LogEvent& event);

/// The text with its line ends as \n and \r, so that it stays one line.
std::string OneLine(std::string_view text);

}  // namespace hg::tsd
