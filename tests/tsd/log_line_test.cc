#include "tsd/log_line.h"

#include <doctest/doctest.h>

namespace hg::tsd {
namespace {

constexpr int64_t kTimeMs = 1700000000007;  // 2023-11-14T22:13:20.007Z

std::string Line(LogFormat format, LogLevel level, std::string_view component,
                 std::string_view message, const LogFields& fields = {}) {
  return LogLine(format, {level, kTimeMs, 17, component, message, fields});
}

TEST_CASE("a text line has time, level and text, and stays one line") {
  const std::string line = Line(LogFormat::kText, LogLevel::kWarning, "", "one\ntwo\r\tthree");
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.substr(19) == ".007 warning: one\\ntwo\\r\tthree");
  CHECK(line.substr(4, 1) + line.substr(7, 1) + line.substr(13, 1) == "--:");
}

TEST_CASE("the message of a text line is followed by the component and the fields") {
  const LogFields fields = {{"path", "/data"}, {"files", size_t{3}},
                            {"empty", ""},     {"said", "a \"b\"\n=c"},
                            {"back", "C:\\x"}, LogField(Status::Busy("now"))};
  CHECK(Line(LogFormat::kText, LogLevel::kInfo, "store", "a flush", fields).substr(24) ==
        "info: a flush component=store path=/data files=3 empty=\"\" "
        R"(said="a \"b\"\n=c" back="C:\\x" error="busy: now")");
}

TEST_CASE("no value of a text line can be mistaken for another field or line") {
  const std::string line =
      Line(LogFormat::kText, LogLevel::kInfo, "query", "slow",
           {{"query", "m user=root\n2026-01-01 00:00:00.000 error: forged \" user=root"}});
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.find(R"(forged \" user=root")") != std::string::npos);
}

TEST_CASE("a JSON line is an object, whatever the text holds") {
  CHECK(
      Line(LogFormat::kJson, LogLevel::kError, "", "a \"b\"\nc") ==
      R"({"time":"2023-11-14T22:13:20.007Z","level":"error","thread":17,"message":"a \"b\"\nc"})");
  CHECK(
      Line(LogFormat::kJson, LogLevel::kInfo, "store", "m", {{"files", 3}, {"path", "a\nb"}}) ==
      R"({"time":"2023-11-14T22:13:20.007Z","level":"info","thread":17,"component":"store","message":"m","files":3,"path":"a\nb"})");
  const std::string broken = Line(LogFormat::kJson, LogLevel::kInfo, "", "no \xFF text \x01",
                                  {{"path", "no \xFF text \x01"}});
  CHECK(broken.find('\xFF') == std::string::npos);
  CHECK(broken.find('\x01') == std::string::npos);
}

TEST_CASE("levels have names") {
  const auto word = [](LogLevel level) {
    return Line(LogFormat::kText, level, "", "x").substr(24);
  };
  CHECK(word(LogLevel::kDebug) == "debug: x");
  CHECK(word(LogLevel::kInfo) == "info: x");
}

}  // namespace
}  // namespace hg::tsd
