#pragma once
// The process's log: lines on standard error, never on standard output, which belongs to the tools'
// answers. Only tsd logs; the rooms below return a Status and are told nothing about logging.

#include <string_view>

namespace hg::tsd {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Lines below `level` are dropped. Call before any thread logs; the default is kInfo.
void SetLogLevel(LogLevel level);

/// One line with time and level. Thread-safe.
void Log(LogLevel level, std::string_view line);

inline void LogInfo(std::string_view line) { Log(LogLevel::kInfo, line); }
inline void LogWarning(std::string_view line) { Log(LogLevel::kWarning, line); }
inline void LogError(std::string_view line) { Log(LogLevel::kError, line); }

}  // namespace hg::tsd
