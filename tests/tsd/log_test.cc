#include "tsd/log.h"

#include <doctest/doctest.h>

#include "tests/support/manual_clock.h"
#include "tsd/log_line.h"
#include "tsd/once_a_minute.h"

namespace hg::tsd {
namespace {

/// Returns the line without its seconds and thread. The name of the thread is not known here.
std::string Shown(const std::string& line) {
  const size_t level = line.find('\t') + 1;
  const size_t thread = line.find('\t', level);
  const size_t logger = line.find('\t', thread + 1);
  return line.substr(level, thread - level) + line.substr(logger);
}

TEST_CASE("the last log lines are kept, newest first, and lines below the log level are not") {
  LogInfo("", "one");
  SetLogLevel(LogLevel::kError);
  LogWarning("", "dropped");
  LogError("store", "two\twith a tab", {{"path", "/a b"}, {"files", 3}});
  SetLogLevel(LogLevel::kInfo);
  const std::vector<std::string> lines = RecentLogLines();
  REQUIRE(lines.size() >= 2);
  CHECK(lines.size() <= kLogLinesKept);
  CHECK(Shown(lines[0]) == "ERROR\ttsdb\ttwo\twith a tab component=store path=\"/a b\" files=3");
  CHECK(Shown(lines[1]) == "INFO\ttsdb\tone");
  CHECK(lines[0].find_first_not_of("0123456789") == 10);
}

TEST_CASE("an event that may be logged once a minute is logged at once, and again a minute later") {
  ManualClock clock(0);
  OnceAMinute event(clock);
  CHECK(event.Due());
  for (int second = 0; second < 60; ++second) {
    CHECK_FALSE(event.Due());
    clock.AdvanceMs(1000);
  }
  CHECK(event.Due());
  CHECK_FALSE(event.Due());
  clock.AdvanceMs(3'600'000);
  CHECK(event.Due());
  CHECK_FALSE(event.Due());
}

TEST_CASE("terminal control sequences are escaped") {
  CHECK(OneLine("a\x1B[2J\x07z\x7F\tb\r\n") == "a\\x1B[2J\\x07z\\x7F\tb\\r\\n");
}

}  // namespace
}  // namespace hg::tsd
