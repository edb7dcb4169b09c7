// Queries from the command line.

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>

#include "tests/tsd/tools/model_program.h"

namespace hg::tsd {
namespace {

TEST_CASE("queries need three words, an aggregator, a time and known names") {
  const ModelProgram program;
  program.Import("m 1699999200 1 host=a\n");
  for (const char* command : {"scan", "query"}) {
    CHECK(program.Run({command, "1", "sum"}).exit == 2);
    CHECK(program.Run({command, "1699999200", "nosuch", "m"}).exit == 1);
    CHECK(program.Run({command, "notadate", "sum", "m"}).exit == 1);
    CHECK(program.Run({command, "1699999200", "sum", "nosuch"}).exit == 1);
    CHECK(program.Run({command, "1699999200", "sum", "m", "host=nosuch"}).exit == 1);
    CHECK(program.Run({command, "1699999200", "1699999300", "sum"}).exit == 1);
    CHECK(program.Run({command, "1699999200", "sum", "downsample", "x", "sum", "m"}).exit == 1);
  }
}

TEST_CASE("query prints the time in milliseconds, the value and the tags of the group") {
  const ModelProgram program;
  program.Import("m 1699999200 1 host=a\nm 1699999201 2 host=a\nm 1699999202 2.5 host=a\n");
  CHECK(program.Run({"query", "1699999200", "1699999300", "sum", "m"}).out ==
        "m 1699999200000 1 {host=a}\n"
        "m 1699999201000 2.000000 {host=a}\n"
        "m 1699999202000 2.500000 {host=a}\n");
}

TEST_CASE("query prints the points before an infinity and then fails") {
  const ModelProgram source, program;
  source.Import("m 1699999200 1 host=a\nm 1699999202 2 host=a\nm 1699999200 3 host=b\n");
  std::string cells = "tsdb\t0000016553ede0000001000002\tt\t002f\t7ff0000000000000\n";
  for (const char* table : {"tsdb", "tsdb-uid"}) {
    std::istringstream lines(source.Run({"dump", table}).out);
    for (std::string line; std::getline(lines, line);)
      cells += std::string(table) + "\t" + line + "\n";
  }
  REQUIRE(program.Run({"load"}, cells).exit == 0);
  const Outcome groups = program.Run({"query", "1699999200", "sum", "m", "host=*"});
  CHECK(groups.exit == 1);
  CHECK(groups.out ==
        "m 1699999200000 1 {host=a}\n"
        "m 1699999202000 2 {host=a}\n"
        "m 1699999200000 3.000000 {host=b}\n");
  const Outcome merged = program.Run({"query", "1699999200", "sum", "m", "max", "m", "host=a"});
  CHECK(merged.exit == 1);
  CHECK(merged.out == "m 1699999200000 4.000000 {}\n");
}

TEST_CASE("a time beyond 2^32 seconds counts as milliseconds, so the range is empty") {
  const ModelProgram program;
  program.Import("m 7200 2 host=a\nm 1699999200 1 host=a\n");
  for (const char* end : {"2500/01/01", "9999999999"}) {
    CAPTURE(end);
    for (const char* command : {"query", "scan"}) {
      const Outcome outcome = program.Run({command, "1699999200", end, "sum", "m"});
      CHECK(outcome.exit == 0);
      CHECK(outcome.out.empty());
    }
    CHECK(program.Run({"query", "1699999200", end, "sum", "nosuch"}).exit == 1);
  }
  CHECK(program.Run({"query", "3600", "9999999999", "sum", "m"}).out == "m 7200000 2 {host=a}\n");
}

TEST_CASE("query --graph writes data files, a script and an image instead of lines") {
  const ModelProgram program;
  program.Import("m 1700000000 1 host=a\nm 1700000060 2 host=a\nm 1700000000 3 host=b\n");
  const std::string base = program.Path("plot");
  const Outcome drawn = program.Run({"query", "--graph", base, "1700000000", "1700000100",
                                     "+wxh=200x150", "+title=A plot", "sum", "m", "host=*"});
  CHECK(drawn.exit == 0);
  CHECK(drawn.out.empty());
  for (const char* name : {"_0.dat", "_1.dat", ".gnuplot", ".png"})
    CHECK_MESSAGE(std::filesystem::exists(base + name), name);
  CHECK(program.Run({"query", "--graph", base, "1700000000", "+wxh=1x1", "sum", "m"}).exit == 1);
  CHECK(program.Run({"query", "1700000000", "1700000100", "+wxh=1x1", "sum", "m", "host=b"}).out ==
        "m 1700000000000 3 {host=b}\n");
}

}  // namespace
}  // namespace hg::tsd
