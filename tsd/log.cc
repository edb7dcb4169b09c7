#include "tsd/log.h"

#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "tsd/log_line.h"

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

LogLevel FromSpdlog(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return LogLevel::kDebug;
    case spdlog::level::info:
      return LogLevel::kInfo;
    case spdlog::level::warn:
      return LogLevel::kWarning;
    default:
      return LogLevel::kError;
  }
}

/// The lines of standard error.
class LineFormatter : public spdlog::formatter {
 public:
  explicit LineFormatter(LogFormat format) : format_(format) {}

  void format(const spdlog::details::log_msg& event, spdlog::memory_buf_t& out) override {
    const auto time_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(event.time.time_since_epoch());
    const std::string line =
        LogLine(format_, FromSpdlog(event.level), time_ms.count(), event.thread_id,
                {event.payload.data(), event.payload.size()}) +
        "\n";
    out.append(line.data(), line.data() + line.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>(format_);
  }

 private:
  const LogFormat format_;
};

/// The logger, and the sink of its that remembers.
struct ProcessLog {
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> recent =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kLogLinesKept);
  spdlog::logger logger{"tsdb", {std::make_shared<spdlog::sinks::stderr_sink_mt>(), recent}};

  ProcessLog() { logger.set_formatter(std::make_unique<LineFormatter>(LogFormat::kText)); }
};

ProcessLog& TheLog() {
  // Never destroyed: threads may still log while the process ends.
  static auto* log = new ProcessLog();
  return *log;
}

spdlog::logger& Logger() { return TheLog().logger; }

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

}  // namespace

std::vector<std::string> RecentLogLines() {
  std::vector<std::string> lines;
  for (const auto& line : TheLog().recent->last_raw()) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(line.time.time_since_epoch()).count();
    std::string text = std::to_string(seconds) + "\t";
    text += LevelName(FromSpdlog(line.level));
    text += "\t" + std::to_string(line.thread_id) + "\ttsdb\t";
    text += OneLine({line.payload.data(), line.payload.size()});
    lines.push_back(std::move(text));
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

void SetLogFormat(LogFormat format) {
  Logger().set_formatter(std::make_unique<LineFormatter>(format));
}

void SetLogLevel(LogLevel level) { Logger().set_level(ToSpdlog(level)); }

void Log(LogLevel level, std::string_view line) {
  Logger().log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace hg::tsd
