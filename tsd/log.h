#pragma once
// The process's log: events on standard error, never on standard output, which belongs to the
// tools' answers. Only tsd logs; the rooms below return a Status and are told nothing about
// logging.

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

/// What the log is told by the settings.
struct LogOptions {
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;
};

/// A value of an event that machines look for, beside its message. The key is a literal, of lower
/// case letters and _, units last; docs/operations.md lists those in use.
struct LogField {
  LogField(std::string_view name, std::string text) : key(name), value(std::move(text)) {}
  LogField(std::string_view name, std::string_view text) : key(name), value(std::string(text)) {}
  LogField(std::string_view name, const char* text) : key(name), value(std::string(text)) {}
  LogField(std::string_view name, std::integral auto number)
      : key(name), value(static_cast<int64_t>(number)) {}
  /// What failed, by "error".
  explicit LogField(const Status& failure) : LogField("error", failure.ToString()) {}

  std::string_view key;
  std::variant<std::string, int64_t> value;
};
using LogFields = std::vector<LogField>;

/// How the lines of standard error look (tsd/log_line.h); the default is kText. Thread-safe.
void SetLogFormat(LogFormat format);

/// Lines below `level` are dropped; the default is kInfo. Thread-safe.
void SetLogLevel(LogLevel level);

/// The last lines, newest first, as OpenTSDB's /logs shows them: seconds, level, thread, logger and
/// text with tabs between. At most kLogLinesKept. Thread-safe.
inline constexpr size_t kLogLinesKept = 1024;
std::vector<std::string> RecentLogLines();

/// One event: one line. `component`: the part of the program that it is about; "": a tool, which
/// says so itself. Thread-safe; does not throw.
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
