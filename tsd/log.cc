#include "tsd/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <mutex>

#include "storage/base/survive.h"
#include "tsd/log_line.h"

namespace hg::tsd {
namespace {

struct ProcessLog {
  std::atomic<LogFormat> format{LogFormat::kText};
  std::atomic<LogLevel> level{LogLevel::kInfo};
  std::mutex writing;  // to standard error: lines stay whole
  std::mutex mutex;
  std::deque<std::string> recent;  // guarded by mutex; the newest last
};

ProcessLog& TheLog() {
  // Never destroyed: threads may still log while the process ends.
  static auto* log = new ProcessLog();
  return *log;
}

/// As OpenTSDB's /logs writes it.
std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARN";
    case LogLevel::kError:
      break;
  }
  return "ERROR";
}

void Keep(const LogEvent& event) {
  std::string line = std::to_string(event.time_ms / 1000) + "\t";
  line += LevelName(event.level);
  line += "\t" + std::to_string(event.thread) + "\ttsdb\t" + LogText(event);
  ProcessLog& log = TheLog();
  const std::lock_guard lock(log.mutex);
  log.recent.push_back(std::move(line));
  if (log.recent.size() > kLogLinesKept) log.recent.pop_front();
}

}  // namespace

std::vector<std::string> RecentLogLines() {
  ProcessLog& log = TheLog();
  const std::lock_guard lock(log.mutex);
  return {log.recent.rbegin(), log.recent.rend()};
}

void SetLogFormat(LogFormat format) { TheLog().format = format; }

void SetLogLevel(LogLevel level) { TheLog().level = level; }

void Log(LogLevel level, std::string_view component, std::string_view message,
         const LogFields& fields) {
  ProcessLog& log = TheLog();
  if (level < log.level) return;
  using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::system_clock;
  const auto time_ms = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  const LogEvent event{level, time_ms, static_cast<uint64_t>(gettid()), component, message, fields};
  // Where memory is wanting there is no line, and who logs goes on.
  (void)Survive([&]() -> Status {
    const std::string line = LogLine(log.format, event) + "\n";
    {
      const std::lock_guard lock(log.writing);
      (void)std::fwrite(line.data(), 1, line.size(), stderr);
    }
    Keep(event);
    return {};
  });
}

}  // namespace hg::tsd
