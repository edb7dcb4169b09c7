#pragma once
// The log of the process. It writes events to standard error, because standard output is for the
// results of tools. Only tsd/ writes log events. Lower layers return a Status and do not know the
// log.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "storage/base/status.h"

namespace hg::tsd {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

/// The settings of the log that the program reads at its start.
struct LogOptions {
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;
};

/// A value that is logged with an event in addition to the message, so that programs can read it.
/// The key is a literal that consists of lower-case letters and '_'. If the value has a unit, the
/// unit is the last word of the key. docs/operations.md lists the keys.
struct LogField {
  LogField(std::string_view name, std::string text) : key(name), value(std::move(text)) {}
  LogField(std::string_view name, std::string_view text) : key(name), value(std::string(text)) {}
  LogField(std::string_view name, const char* text) : key(name), value(std::string(text)) {}
  LogField(std::string_view name, std::integral auto number)
      : key(name), value(static_cast<int64_t>(number)) {}
  /// Creates a field with the key "error" and the text of the failure.
  explicit LogField(const Status& failure) : LogField("error", failure.ToString()) {}

  std::string_view key;
  std::variant<std::string, int64_t> value;
};
using LogFields = std::vector<LogField>;

/// Sets the format of the lines on standard error (tsd/log_line.h). The default is kText.
/// Thread-safe.
void SetLogFormat(LogFormat format);

/// Sets the lowest level that is logged. Later events below `level` are not logged. The default is
/// kInfo. Thread-safe.
void SetLogLevel(LogLevel level);

/// The maximum number of lines that RecentLogLines returns.
inline constexpr size_t kLogLinesKept = 1024;
/// Returns the last lines of the log, newest line first. The lines have the form of OpenTSDB's
/// /logs: seconds, level, thread, logger and text, separated by tabs. Thread-safe.
std::vector<std::string> RecentLogLines();

/// Writes one event as one line. `component` is the part of the program that the event concerns.
/// Tools pass "", because their messages contain the name of the part. Thread-safe; does not throw.
void Log(LogLevel level, std::string_view component, std::string_view message,
         const LogFields& fields = {});

inline void LogInfo(std::string_view component, std::string_view message,
                    const LogFields& fields = {}) {
  Log(LogLevel::kInfo, component, message, fields);
}
inline void LogWarning(std::string_view component, std::string_view message,
                       const LogFields& fields = {}) {
  Log(LogLevel::kWarning, component, message, fields);
}
inline void LogError(std::string_view component, std::string_view message,
                     const LogFields& fields = {}) {
  Log(LogLevel::kError, component, message, fields);
}

}  // namespace hg::tsd
