#include "tsd/log.h"

#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "storage/base/survive.h"
#include "tsd/log_line.h"

namespace hg::tsd {
namespace {

/// Formats events as lines (tsd/log_line.h), because spdlog's events have no fields. spdlog only
/// writes the lines.
struct ProcessLog {
  std::atomic<LogFormat> format{LogFormat::kText};
  std::atomic<LogLevel> level{LogLevel::kInfo};
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> kept =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kLogLinesKept);
  spdlog::logger lines{"tsdb", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
  spdlog::logger recent{"recent", kept};

  ProcessLog() { lines.set_pattern("%v"); }
};

ProcessLog& TheLog() {
  // Never destroyed, because threads may still log while the process ends.
  static auto* log = new ProcessLog();
  return *log;
}

/// Returns the level name used by OpenTSDB's /logs.
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

std::string RecentLine(const LogEvent& event) {
  std::string line = std::to_string(event.time_ms / 1000) + "\t";
  line += LevelName(event.level);
  return line + "\t" + std::to_string(event.thread) + "\ttsdb\t" + LogText(event);
}

}  // namespace

std::vector<std::string> RecentLogLines() {
  std::vector<std::string> lines;
  for (const auto& line : TheLog().kept->last_raw()) {
    lines.emplace_back(line.payload.data(), line.payload.size());
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
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
  // If memory runs out, the line is lost and the caller continues.
  (void)Survive([&] {
    log.lines.info(LogLine(log.format, event));
    log.recent.info(RecentLine(event));
  });
}

}  // namespace hg::tsd
