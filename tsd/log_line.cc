#include "tsd/log_line.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <utility>

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

std::string TextLine(const LogEvent& event) {
  const std::time_t seconds = event.time_ms / 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  std::string line = TimeText(local, "%Y-%m-%d %H:%M:%S", event.time_ms) + " ";
  return line.append(LevelWord(event.level)).append(": ").append(LogText(event));
}

std::string JsonLine(const LogEvent& event) {
  const std::time_t seconds = event.time_ms / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::string line;
  http::JsonWriter json(&line);
  const auto text = [&json](std::string_view key, std::string value) {
    ReplaceInvalidUtf8(&value);
    json.Member(key, value);
  };
  json.BeginObject();
  json.Member("time", TimeText(utc, "%Y-%m-%dT%H:%M:%S", event.time_ms) + "Z");
  json.Member("level", LevelWord(event.level));
  json.Member("thread", static_cast<int64_t>(event.thread));
  if (!event.component.empty()) json.Member("component", event.component);
  text("message", std::string(event.message));
  for (const LogField& field : event.fields) {
    if (const auto* number = std::get_if<int64_t>(&field.value)) {
      json.Member(field.key, *number);
    } else {
      text(field.key, std::get<std::string>(field.value));
    }
  }
  json.EndObject();
  return line;
}

/// Returns a value in the form of LogText.
std::string Quoted(std::string_view text) {
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '=' && c != '\\' && c != 0x7F;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return "\"" + OneLine(escaped) + "\"";
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
      // Text from clients must not send control sequences to a terminal, so control characters are
      // escaped.
      char text_of[5];
      std::snprintf(text_of, sizeof text_of, "\\x%02X", static_cast<unsigned char>(c));
      line += text_of;
    } else {
      line += c;
    }
  }
  return line;
}

std::string LogText(const LogEvent& event) {
  std::string text = OneLine(event.message);
  const auto add = [&text](std::string_view key, const std::string& value) {
    text.append(" ").append(key).append("=").append(value);
  };
  if (!event.component.empty()) add("component", Quoted(event.component));
  for (const LogField& field : event.fields) {
    const auto* number = std::get_if<int64_t>(&field.value);
    add(field.key,
        number != nullptr ? std::to_string(*number) : Quoted(std::get<std::string>(field.value)));
  }
  return text;
}

std::string LogLine(LogFormat format, const LogEvent& event) {
  return format == LogFormat::kJson ? JsonLine(event) : TextLine(event);
}

}  // namespace hg::tsd
