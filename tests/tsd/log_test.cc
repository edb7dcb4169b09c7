#include "tsd/log.h"

#include <doctest/doctest.h>

#include "tsd/log_line.h"

namespace hg::tsd {
namespace {

/// Behind seconds and level stands the thread, which no test knows.
std::string Shown(const std::string& line) {
  const size_t level = line.find('\t') + 1;
  const size_t thread = line.find('\t', level);
  const size_t logger = line.find('\t', thread + 1);
  return line.substr(level, thread - level) + line.substr(logger);
}

TEST_CASE("the last lines of the log are kept, newest first, those below the level are not") {
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

TEST_CASE("what steers a terminal is written out") {
  CHECK(OneLine("a\x1B[2J\x07z\x7F\tb\r\n") == "a\\x1B[2J\\x07z\\x7F\tb\\r\\n");
}

}  // namespace
}  // namespace hg::tsd
