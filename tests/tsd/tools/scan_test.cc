// Stored rows, and the series that exist.

#include <doctest/doctest.h>

#include <vector>

#include "storage/base/bytes.h"
#include "tests/tsd/tools/model_program.h"

namespace hg::tsd {
namespace {

TEST_CASE("scan prints rows unchanged: points, compacted cells, annotations and unknown columns") {
  const ModelProgram program;
  const std::string row = "tsdb\t0000016553ede0000001000001\tt\t";
  const std::string names =
      "tsdb-uid\t000001\tname\t6d657472696373\t6d\n"
      "tsdb-uid\t000001\tname\t7461676b\t686f7374\n"
      "tsdb-uid\t000001\tname\t74616776\t61\n"
      "tsdb-uid\t61\tid\t74616776\t000001\n"
      "tsdb-uid\t6d\tid\t6d657472696373\t000001\n";
  REQUIRE(program
              .Run({"load"}, row + "00000010\t012a00\n" + row + "010020\t7b7d\n" + row +
                                 "07\tff\n" + row + "f000fa0b\t3fc00000\n" + names)
              .exit == 0);
  const std::string hour = "(Tue Nov 14 22:00:00 UTC 2023)";
  CHECK(program.Run({"scan", "1699999200", "sum", "m"}).out ==
        "[0, 0, 1, 101, 83, -19, -32, 0, 0, 1, 0, 0, 1] m 1699999200 " + hour +
            " {host=a}\n"
            "  [0, 0, 0, 16]\t[1, 42, 0] = 2 values:\n"
            "    [0, 0]\t[1]\t0\tl\t1699999200\t" +
            hour +
            "\n"
            "    [0, 16]\t[42]\t1\tl\t1699999201\t(Tue Nov 14 22:00:01 UTC 2023)\n"
            "  [1, 0, 32]\t[123, 125]\t2\t{}\t1699999216000\t(Tue Nov 14 22:00:16 UTC 2023)\n"
            "  [-1]\t[Not a data point]\n"
            "  [-16, 0, -6, 11]\t[63, -64, 0, 0]\t1000\tf\t1699999201000\t"
            "(Tue Nov 14 22:00:01 UTC 2023)\n");
}

TEST_CASE(
    "scan shows a millisecond point unchanged if its value has another width than its flags say") {
  const ModelProgram program;
  REQUIRE(program
              .Run({"load"},
                   "tsdb\t0000016553ede0\tt\tf00fa00b\t0000000040866666\n"
                   "tsdb\t0000016553ede0\tt\tf00fa040\t\n"
                   "tsdb-uid\t000001\tname\t6d657472696373\t6d\n"
                   "tsdb-uid\t6d\tid\t6d657472696373\t000001\n")
              .exit == 0);
  const std::string out = program.Run({"scan", "1699999200", "sum", "m"}).out;
  CHECK(out.find("  [-16, 15, -96, 11]\t[0, 0, 0, 0, 64, -122, 102, 102]\t16000\tf\t"
                 "1699999216000\t(Tue Nov 14 22:00:16 UTC 2023)\n") != std::string::npos);
  CHECK(out.find("  [-16, 15, -96, 64]\t[]\t16001\tl\t1699999216001\t") != std::string::npos);
  const Outcome import = program.Run({"scan", "--import", "1699999200", "sum", "m"});
  CHECK(import.exit == 1);  // at the empty line
  CHECK(import.out == "m 1699999216000 0.0\n");
}

TEST_CASE("search lookup prints nothing, and fails for unknown names") {
  const ModelProgram program;
  program.Import("m 1699999200 1 host=a\n");
  const auto search = [&program](std::vector<std::string> words) {
    words.insert(words.begin(), {"search", "lookup"});
    const Outcome outcome = program.Run(words);
    CHECK(outcome.out.empty());
    return outcome.exit;
  };
  CHECK(search({"m"}) == 0);
  CHECK(search({"*", "host=a", "host=", "=a", "host=*"}) == 0);
  CHECK(search({"host=a"}) == 0);
  CHECK(search({"nosuch"}) == 1);
  CHECK(search({"m", "nokey=a"}) == 1);
  CHECK(search({"m", "host=nobody"}) == 1);
  CHECK(search({"m", "host"}) == 1);
  CHECK(search({"m", "="}) == 1);
  CHECK(search({}) == 2);
  CHECK(program.Run({"search"}).exit == 2);
  CHECK(program.Run({"search", "nosuch", "m"}).exit == 2);
}

TEST_CASE("scan fails at a key that ends within its time, and the error names the key") {
  const ModelProgram cut;
  const std::string names =
      "tsdb-uid\t000001\tname\t6d657472696373\t6d\n"
      "tsdb-uid\t6d\tid\t6d657472696373\t000001\n";
  // The key sorts between the hours of the query.
  REQUIRE(cut.Run({"load"}, "tsdb\t000001655400\tt\t0010\t18\n" + names).exit == 0);
  const Outcome outcome = cut.Run({"scan", "1699999200", "sum", "m"});
  CHECK(outcome.exit == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("000001655400") != std::string::npos);
}

TEST_CASE("scan prints rows without tags, and OpenTSDB's error for tags without names") {
  const ModelProgram program;
  REQUIRE(program
              .Run({"load"},
                   "tsdb\t0000016553ede0\tt\t0010\t18\n"
                   "tsdb-uid\t000001\tname\t6d657472696373\t6d\n"
                   "tsdb-uid\t6d\tid\t6d657472696373\t000001\n")
              .exit == 0);
  CHECK(program.Run({"scan", "1699999200", "sum", "m"}).out.find(" 2023) {}\n  [0, 16]\t[24]\t") !=
        std::string::npos);
  CHECK(program.Scan({"1699999200", "sum", "m"}) == "m 1699999201 24\n");
  const ModelProgram orphan;
  REQUIRE(orphan
              .Run({"load"},
                   "tsdb\t0000016553ede0000001000002\tt\t0010\t18\n"
                   "tsdb-uid\t000001\tname\t6d657472696373\t6d\n"
                   "tsdb-uid\t000001\tname\t7461676b\t68\n"
                   "tsdb-uid\t6d\tid\t6d657472696373\t000001\n")
              .exit == 0);
  const Outcome outcome = orphan.Run({"scan", "1699999200", "sum", "m"});
  CHECK(outcome.exit == 0);
  CHECK(outcome.out.find(" net.opentsdb.uid.NoSuchUniqueId: No such unique ID for 'tagv': "
                         "[0, 0, 2]\n  [0, 16]\t[24]\t") != std::string::npos);
  CHECK(orphan.Run({"scan", "--import", "1699999200", "sum", "m"}).exit == 1);
}

TEST_CASE("scan --delete prints the rows and deletes them") {
  const ModelProgram program;
  program.Import("m 1699999200 1 host=a\nm 1699999200 2 host=b\n");
  CHECK(program.Run({"scan", "--delete", "1699999200", "sum", "m", "host=a"}).out ==
        "m 1699999200 1 host=a\n");
  CHECK(program.Scan({"1699999200", "sum", "m"}) == "m 1699999200 2 host=b\n");
}

TEST_CASE("scan --delete deletes no row that it could not print") {
  const ModelProgram program;
  const std::string lines = "m 1699999200 1 host=a\nm 1699999200 2 host=b\n";
  program.Import(lines);
  const Outcome outcome = program.RunWithoutOutput({"scan", "--delete", "1699999200", "sum", "m"});
  CHECK(outcome.exit == 1);
  CHECK(outcome.err.find("output") != std::string::npos);
  CHECK(program.Scan({"1699999200", "sum", "m"}) == lines);
}

TEST_CASE("scan --delete keeps a row that changed after it was read, and reports it") {
  RowWatch watch;
  const WatchedProgram program(watch);
  program.Import("m 1699999200 1 host=a\nm 1699999200 2 host=b\n");
  watch = [](Store& store, const Row& row) {
    if (!row.key.ends_with('\2')) return;
    REQUIRE(store.Mutate("tsdb", {{row.key, {PutCell("t", Bytes("\0\x10", 2), "\3")}}}).ok());
  };
  const Outcome outcome = program.Run({"scan", "--delete", "1699999200", "sum", "m"});
  watch = nullptr;
  CHECK(outcome.exit == 1);
  CHECK(outcome.out == "m 1699999200 1 host=a\nm 1699999200 2 host=b\n");
  CHECK(outcome.err.find("1 row") != std::string::npos);
  CHECK(program.Scan({"1699999200", "sum", "m"}) ==
        "m 1699999200 2 host=b\nm 1699999201 3 host=b\n");
}

TEST_CASE("scan --delete and fsck --fix refuse times that they would take for milliseconds") {
  const ModelProgram program;
  program.Import("m 1699999200 1 host=a\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"scan", "--delete"}, {"fsck", "--fix"}, {"fsck", "--fix-all"}}) {
    for (const std::vector<std::string>& times : {std::vector<std::string>{"2200/01/01-00:00:00"},
                                                  {"2010/01/01-00:00:00", "2200/01/01-00:00:00"}}) {
      std::vector<std::string> words = command;
      words.insert(words.end(), times.begin(), times.end());
      words.insert(words.end(), {"sum", "m"});
      const Outcome outcome = program.Run(words);
      CHECK(outcome.exit == 1);
      CHECK(outcome.err.find("2200/01/01-00:00:00") != std::string::npos);
    }
  }
  CHECK(program.Scan({"2010/01/01-00:00:00", "sum", "m"}) == "m 1699999200 1 host=a\n");
}

TEST_CASE("scan refuses a tag value with a wildcard inside, which would otherwise mean any value") {
  const ModelProgram program;
  program.Import("m 1699999200 1 host=a\n");
  CHECK(program.Run({"scan", "--delete", "1699999200", "sum", "m", "host=b*"}).exit == 1);
  CHECK(program.Scan({"1699999200", "sum", "m"}) == "m 1699999200 1 host=a\n");
}

}  // namespace
}  // namespace hg::tsd
