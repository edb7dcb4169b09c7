#pragma once
// The process's log: lines on standard error, never on standard output, which belongs to the tools'
// answers. Only tsd logs; the rooms below return a Status and are told nothing about logging.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hg::tsd {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

/// What the log is told by the settings.
struct LogOptions {
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;
};

/// How the lines of standard error look (tsd/log_line.h); the default is kText. Thread-safe.
void SetLogFormat(LogFormat format);

/// Lines below `level` are dropped; the default is kInfo. Thread-safe.
void SetLogLevel(LogLevel level);

/// The last lines, newest first, as OpenTSDB's /logs shows them: seconds, level, thread, logger and
/// text with tabs between. At most kLogLinesKept. Thread-safe.
inline constexpr size_t kLogLinesKept = 1024;
std::vector<std::string> RecentLogLines();

/// One event: one line with time and level. Thread-safe.
void Log(LogLevel level, std::string_view line);

inline void LogInfo(std::string_view line) { Log(LogLevel::kInfo, line); }
inline void LogWarning(std::string_view line) { Log(LogLevel::kWarning, line); }
inline void LogError(std::string_view line) { Log(LogLevel::kError, line); }

}  // namespace hg::tsd
