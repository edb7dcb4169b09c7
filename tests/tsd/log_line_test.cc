#include "tsd/log_line.h"

#include <doctest/doctest.h>

namespace hg::tsd {
namespace {

constexpr int64_t kTimeMs = 1700000000007;  // 2023-11-14T22:13:20.007Z

TEST_CASE("a text line has time, level and text, and stays one line") {
  const std::string line =
      LogLine(LogFormat::kText, LogLevel::kWarning, kTimeMs, 17, "one\ntwo\r\tthree");
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.substr(19) == ".007 warning: one\\ntwo\\r\tthree");
  CHECK(line.substr(4, 1) + line.substr(7, 1) + line.substr(13, 1) == "--:");
}

TEST_CASE("a JSON line is an object, whatever the text holds") {
  CHECK(
      LogLine(LogFormat::kJson, LogLevel::kError, kTimeMs, 17, "a \"b\"\nc") ==
      R"({"time":"2023-11-14T22:13:20.007Z","level":"error","thread":17,"message":"a \"b\"\nc"})");
  const std::string broken =
      LogLine(LogFormat::kJson, LogLevel::kInfo, kTimeMs, 1, "no \xFF text \x01");
  CHECK(broken.find('\xFF') == std::string::npos);
  CHECK(broken.find('\x01') == std::string::npos);
}

TEST_CASE("levels have their words") {
  const auto word = [](LogLevel level) {
    return LogLine(LogFormat::kText, level, kTimeMs, 1, "x").substr(24);
  };
  CHECK(word(LogLevel::kDebug) == "debug: x");
  CHECK(word(LogLevel::kInfo) == "info: x");
}

}  // namespace
}  // namespace hg::tsd
