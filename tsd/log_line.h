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

/// Returns the message and the fields of an event, for example "message component=store path=/data
/// error="no such file": made"". A value that is not one plain word is put in quotes. Control
/// characters, quotes and backslashes in it are escaped as \" \\ \n \r and \x1B.
std::string LogText(const LogEvent& event);

/// Returns the text on one line: newline characters become the escapes \n and \r.
std::string OneLine(std::string_view text);

}  // namespace hg::tsd
