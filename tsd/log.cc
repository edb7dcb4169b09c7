#include "tsd/log.h"

#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

namespace hg::tsd {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

/// The logger, and the sink of its that remembers.
struct ProcessLog {
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> recent =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kLogLinesKept);
  spdlog::logger logger{"tsdb", {std::make_shared<spdlog::sinks::stderr_sink_mt>(), recent}};

  ProcessLog() { logger.set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v"); }
};

ProcessLog& TheLog() {
  // Never destroyed: threads may still log while the process ends.
  static auto* log = new ProcessLog();
  return *log;
}

spdlog::logger& Logger() { return TheLog().logger; }

std::string_view LevelName(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return "DEBUG";
    case spdlog::level::info:
      return "INFO";
    case spdlog::level::warn:
      return "WARN";
    default:
      return "ERROR";
  }
}

}  // namespace

std::vector<std::string> RecentLogLines() {
  std::vector<std::string> lines;
  for (const auto& line : TheLog().recent->last_raw()) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(line.time.time_since_epoch()).count();
    std::string text = std::to_string(seconds) + "\t";
    text += LevelName(line.level);
    text += "\t" + std::to_string(line.thread_id) + "\ttsdb\t";
    text.append(line.payload.data(), line.payload.size());
    lines.push_back(std::move(text));
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

void SetLogLevel(LogLevel level) { Logger().set_level(ToSpdlog(level)); }

void Log(LogLevel level, std::string_view line) {
  Logger().log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace hg::tsd
