#include "tsd/log_line.h"

#include <cstdio>
#include <ctime>

#include "http/wire/json_writer.h"
#include "storage/model/utf8.h"

namespace hg::tsd {
namespace {

std::string_view LevelWord(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      break;
  }
  return "error";
}

std::string TimeText(const std::tm& time, const char* form, int64_t time_ms) {
  char text[40];
  const size_t length = std::strftime(text, sizeof(text), form, &time);
  char millis[8];
  std::snprintf(millis, sizeof(millis), ".%03d", static_cast<int>(time_ms % 1000));
  return std::string(text, length) + millis;
}

std::string TextLine(LogLevel level, int64_t time_ms, std::string_view text) {
  const std::time_t seconds = time_ms / 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  std::string line = TimeText(local, "%Y-%m-%d %H:%M:%S", time_ms) + " ";
  line.append(LevelWord(level)).append(": ").append(OneLine(text));
  return line;
}

std::string JsonLine(LogLevel level, int64_t time_ms, uint64_t thread, std::string_view text) {
  const std::time_t seconds = time_ms / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::string message(text);
  ReplaceInvalidUtf8(&message);
  std::string line;
  http::JsonWriter json(&line);
  json.BeginObject();
  json.Member("time", TimeText(utc, "%Y-%m-%dT%H:%M:%S", time_ms) + "Z");
  json.Member("level", LevelWord(level));
  json.Member("thread", static_cast<int64_t>(thread));
  json.Member("message", message);
  json.EndObject();
  return line;
}

}  // namespace

std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\r') {
      line += "\\r";
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F) {
      // What a client sent must not steer the terminal of who reads it.
      char text_of[5];
      std::snprintf(text_of, sizeof text_of, "\\x%02X", static_cast<unsigned char>(c));
      line += text_of;
    } else {
      line += c;
    }
  }
  return line;
}

std::string LogLine(LogFormat format, LogLevel level, int64_t time_ms, uint64_t thread,
                    std::string_view text) {
  return format == LogFormat::kJson ? JsonLine(level, time_ms, thread, text)
                                    : TextLine(level, time_ms, text);
}

}  // namespace hg::tsd
