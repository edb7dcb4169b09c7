#include "tsd/command_line.h"

#include <doctest/doctest.h>

namespace hg::tsd {
namespace {

constexpr OptionSpec kKnown[] = {
    {"--port", "NUM", "a number"}, {"--import", "", "a flag"}, {"--verbose", "", "a flag", "-v"}};

Result<CommandLine> Parse(const std::vector<std::string>& arguments) {
  return CommandLine::Parse(kKnown, arguments);
}

TEST_CASE("an option's value follows an equals sign or is the next word") {
  CHECK(Parse({"--port=1"})->Value("--port") == "1");
  CHECK(Parse({"--port", "1"})->Value("--port") == "1");
  CHECK(Parse({"--port="})->Value("--port") == "");
  CHECK(Parse({"--port", "--import"})->Value("--port") == "--import");
}

TEST_CASE("options and words may be mixed") {
  const auto line = Parse({"a", "--import", "b", "--port", "1", "c=d"});
  REQUIRE(line.ok());
  CHECK(line->words() == std::vector<std::string>{"a", "b", "c=d"});
  CHECK(line->Has("--import"));
  CHECK_FALSE(line->Has("--verbose"));
}

TEST_CASE("\"--\" ends the options") {
  CHECK(Parse({"--", "-", "--port"})->words() == std::vector<std::string>{"-", "--port"});
}

TEST_CASE("an unknown word that begins with a dash is refused, and the error names it") {
  for (const char* word : {"-", "-x", "--nosuch", "--nosuch=1", "--ports"}) {
    const auto line = Parse({word});
    CHECK(line.status().code() == StatusCode::kInvalidArgument);
    CHECK(line.status().message().find(word) != std::string::npos);
  }
}

TEST_CASE("an option at the end without its value is refused") {
  CHECK_FALSE(Parse({"--port"}).ok());
}

TEST_CASE("an alias means the same option") { CHECK(Parse({"-v"})->Has("--verbose")); }

TEST_CASE("of an option given twice the last value counts") {
  CHECK(Parse({"--port=1", "--port=2"})->Value("--port") == "2");
}

}  // namespace
}  // namespace hg::tsd
