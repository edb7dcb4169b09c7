#pragma once
// Formats a log event as one line, even if the texts of the event contain newlines.

#include <cstdint>
#include <string>
#include <string_view>

#include "tsd/log.h"

namespace hg::tsd {

/// An event of the log. The object does not own its texts.
struct LogEvent {
  LogLevel level = LogLevel::kInfo;
  int64_t time_ms = 0;  // time of the event in milliseconds since the epoch
  uint64_t thread = 0;
  std::string_view component, message;
  const LogFields& fields;
};

/// Returns the line for an event, without a newline. kText: "2026-01-31 12:00:00.123 info: " in the
/// local time zone, followed by LogText. kJson: an object with "time" (UTC), "level", "thread",
/// "component", "message" and one member for each field.
std::string LogLine(LogFormat format, const LogEvent& event);

/// Returns the message, the component and the fields of an event, such as "backup failed
/// component=store path=/data". A value that is not one plain word is put in quotes. In such a
/// value, a backslash is put before each quote and backslash. Control characters of the message and
/// of the values are replaced as by OneLine.
std::string LogText(const LogEvent& event);

/// Returns the text on one line: newline characters become the escapes \n and \r. Other control
/// characters except tabs become \xHH, where HH are two hexadecimal digits.
std::string OneLine(std::string_view text);

}  // namespace hg::tsd
