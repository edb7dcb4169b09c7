// The commands with words, standard output and exit status, over the model store.

#include <doctest/doctest.h>

#include "tests/tsd/tools/model_program.h"
#include "tsd/known_settings.h"

namespace hg::tsd {
namespace {

TEST_CASE("an unknown command fails, an unknown option is wrong usage, and help is neither") {
  const ModelProgram program;
  CHECK(program.Run({}).exit == 1);
  CHECK(program.Run({"nosuch"}).exit == 1);
  const Outcome misused = program.Run({"scan", "--nosuch", "1"});
  CHECK(misused.exit == 2);
  CHECK(misused.err.find("--nosuch") != std::string::npos);
  const Outcome help = program.Run({"scan", "--help"});
  CHECK(help.exit == 0);
  CHECK(help.out.empty());
  CHECK(help.err.find("--import") != std::string::npos);
}

TEST_CASE("version prints two lines") {
  const Outcome outcome = ModelProgram().Run({"version"});
  CHECK(outcome.exit == 0);
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 2);
}

TEST_CASE("settings prints its table and opens no store") {
  const Outcome outcome = ModelProgram().Run({"settings"});
  CHECK(outcome.exit == 0);
  CHECK(outcome.out == SettingsTable());
  CHECK(outcome.out.find("\n| `tsd.network.port` | `4242` | ") != std::string::npos);
}

TEST_CASE("a command fails if its output cannot be written") {
  const ModelProgram program;
  program.Import("m 1699999200 1 host=a\n");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"dump", "tsdb"},
                                                {"scan", "1699999200", "sum", "m"},
                                                {"export", "1699999200", "sum", "m"},
                                                {"query", "1699999200", "sum", "m"},
                                                {"cell", "scan", "tsdb"},
                                                {"uid", "metrics", "m"},
                                                {"version"}}) {
    CAPTURE(words[0]);
    CHECK(program.Run(words).exit == 0);
    const Outcome outcome = program.RunWithoutOutput(words);
    CHECK(outcome.exit == 1);
    CHECK(outcome.err.find("cannot write to standard output") != std::string::npos);
  }
}

TEST_CASE("loaded cells are dumped unchanged, ordered by row, family and qualifier") {
  const ModelProgram program;
  const std::string point = "0000016553ede0000001000001\tt\t0010\t2a\n";
  const std::string note = "0000016553ede0000001000001\tt\t010000\t7b7d\n";
  const std::string wide = "0000016553ede0000001000002\tt\t00000010\t010200\n";
  CHECK(program.Run({"load"}, "tsdb\t" + wide + "tsdb\t" + note + "tsdb\t" + point).exit == 0);
  CHECK(program.Run({"dump", "tsdb"}).out == point + note + wide);
  CHECK(program.Run({"dump", "tsdb-uid"}).out.empty());
}

TEST_CASE("load refuses a database that is not empty") {
  const ModelProgram program;
  program.Import("m 1699999200 1 host=a\n");
  const Outcome outcome = program.Run({"load"}, "tsdb\t00\tt\t0010\t2a\n");
  CHECK(outcome.exit == 1);
  CHECK(outcome.err.find("not empty") != std::string::npos);
}

TEST_CASE("load reports the line that it cannot parse") {
  for (const char* bad :
       {"tsdb\t00\tt\t0010\n", "tsdb\t00\tt\t0010\t2a\t00\n", "tsdb\t0g\tt\t0010\t2a\n"}) {
    const Outcome outcome =
        ModelProgram().Run({"load"}, "tsdb\t00\tt\t0000\t01\n" + std::string(bad));
    CHECK(outcome.exit == 1);
    CHECK(outcome.err.find("line 2") != std::string::npos);
  }
}

TEST_CASE("dump of an unknown table fails, and without a table it is wrong usage") {
  CHECK(ModelProgram().Run({"dump", "nosuch"}).exit == 1);
  CHECK(ModelProgram().Run({"dump"}).exit == 2);
}

}  // namespace
}  // namespace hg::tsd
