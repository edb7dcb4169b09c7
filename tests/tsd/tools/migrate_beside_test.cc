// migrate from and to a data directory that a daemon uses: writes of the daemon's clients stay, and
// ids are not mixed up.

#include <doctest/doctest.h>

#include "tests/tsd/tools/migrate_program.h"
#include "tests/tsd/tools/running_store.h"

namespace hg::tsd {
namespace {

/// Imports lines into a directory that a daemon may use.
void ImportTo(const MigrateProgram& program, const std::string& folder, const std::string& lines) {
  program.Write("other", "tsd.storage.path = " + program.Path(folder) +
                             "\ntsd.core.auto_create_metrics = true\n");
  const Outcome done =
      program.Run({"import", "--config=" + program.Path("other"), "--", "-"}, lines);
  INFO(done.err);
  REQUIRE(done.exit == 0);
}

std::string Points(const MigrateProgram& program, const std::string& folder) {
  const Outcome done = program.Run({"scan", "--data=" + program.Path(folder), "--import",
                                    "1699990000", "1700010000", "sum", "m"});
  INFO(done.err);
  CHECK(done.exit == 0);
  return done.out;
}

TEST_CASE(
    "a directory that a daemon uses is migrated to HBase, and from HBase to another "
    "daemon's directory") {
  const MigrateProgram program("", OpenBackendOrBeside);
  MigrateCluster cluster;
  program.Import(kMixedLines);
  const std::string points = program.Dump("tsdb");
  const std::string names = program.Dump("tsdb-uid");
  const RunningStore source(program.Path("data"));
  const Outcome out = program.Migrate(program.Uri(), cluster.Uri());
  CAPTURE(out.err);
  REQUIRE(out.exit == 0);
  CHECK(program.DumpOf(cluster, "tsdb") == points);
  CHECK(program.DumpOf(cluster, "tsdb-uid") == names);

  const RunningStore there(program.Path("copy"));
  const Outcome back =
      program.Migrate(cluster.Uri(), program.Uri("copy"), {"--state=" + program.Path("back")});
  CAPTURE(back.err);
  REQUIRE(back.exit == 0);
  CHECK(program.DumpOf("copy", "tsdb") == points);
  CHECK(program.DumpOf("copy", "tsdb-uid") == names);
  CHECK(program.Migrate(program.Uri(), program.Uri("copy"), {"--verify"}).exit == 0);
}

TEST_CASE("a point that a client wrote after its row was compared stays") {
  const MigrateProgram program("", OpenBackendOrBeside);
  program.Import("m 1699999200 9 host=a\n");
  RunningStore there(program.Path("copy"));
  // The row is old, so its points are shown as one cell.
  ImportTo(program, "copy", "m 1699999200 1 host=a\nm 1699999201 2 host=a\n");
  there.cells().meddle = [&] { ImportTo(program, "copy", "m 1699999201 3 host=a\n"); };
  const Outcome out = program.Migrate(program.Uri(), program.Uri("copy"), {"--again"});
  CAPTURE(out.err);
  REQUIRE(out.exit == 0);
  CHECK_FALSE(there.cells().meddle);
  CHECK(Points(program, "copy") == "m 1699999200 9 host=a\nm 1699999201 3 host=a\n");
}

TEST_CASE(
    "ids that a daemon assigns during a migration differ from those of the source, and stay") {
  const MigrateProgram program("", OpenBackendOrBeside);
  program.Import("m 1699999200 1 host=a\nn 1699999200 1 host=b\n");
  const RunningStore there(program.Path("copy"));
  REQUIRE(program.Migrate(program.Uri(), program.Uri("copy")).exit == 0);
  ImportTo(program, "copy", "its.own 1699999200 5 host=c\n");
  const std::string names = program.DumpOf("copy", "tsdb-uid");
  CHECK(Contains(names, ToHex("its.own") + "\tid\t" + ToHex("metrics") + "\t000003"));
  // The source also gets a new name and a new point before it is migrated again.
  program.Import("m 1699999201 2 host=a\n");
  const Outcome again = program.Migrate(program.Uri(), program.Uri("copy"));
  CAPTURE(again.err);
  REQUIRE(again.exit == 0);
  CHECK(Contains(again.out, "1 rows written"));
  CHECK(program.DumpOf("copy", "tsdb-uid") == names);
  CHECK(Points(program, "copy") == "m 1699999200 1 host=a\nm 1699999201 2 host=a\n");
  const Outcome verified = program.Migrate(program.Uri(), program.Uri("copy"), {"--verify"});
  CAPTURE(verified.out);
  CHECK(verified.exit == 0);
}

TEST_CASE("a daemon with other ids for the source's names is refused before any point") {
  const MigrateProgram program("", OpenBackendOrBeside);
  program.Import("m 1699999200 1 host=a\n");
  const RunningStore there(program.Path("copy"));
  ImportTo(program, "copy", "other 1699999200 5 host=a\nm 1699999200 7 host=a\n");
  const std::string points = program.DumpOf("copy", "tsdb");
  const std::string whole = program.DumpOf("copy", "tsdb-uid");
  const Outcome refused = program.Migrate(program.Uri(), program.Uri("copy"));
  CHECK(refused.exit == 1);
  CHECK(Contains(refused.err, "is not empty"));
  const Outcome mixed = program.Migrate(program.Uri(), program.Uri("copy"), {"--again"});
  CHECK(mixed.exit == 1);
  CAPTURE(mixed.err);
  CHECK(Contains(mixed.err, "two databases would be mixed: "));
  CHECK(Contains(mixed.err, R"(metrics "m" has the id 000002, and the id 000001 in the source)"));
  CHECK(program.DumpOf("copy", "tsdb") == points);
  CHECK(program.DumpOf("copy", "tsdb-uid") == whole);
}

TEST_CASE(
    "--delete is refused if a daemon uses the target, and allowed if a daemon uses the source") {
  const MigrateProgram program("", OpenBackendOrBeside);
  program.Import("m 1699999200 1 host=a\n");
  {
    const RunningStore there(program.Path("copy"));
    REQUIRE(program.Migrate(program.Uri(), program.Uri("copy")).exit == 0);
    ImportTo(program, "copy", "m 1699999201 2 host=a\n");
    const Outcome refused = program.Migrate(program.Uri(), program.Uri("copy"), {"--delete"});
    CHECK(refused.exit == 1);
    CHECK(Contains(refused.err, "--delete: the data that clients write to the running daemon"));
  }
  CHECK(Points(program, "copy") == "m 1699999200 1 host=a\nm 1699999201 2 host=a\n");
  const RunningStore source(program.Path("data"));
  REQUIRE(program.Migrate(program.Uri(), program.Uri("copy"), {"--delete"}).exit == 0);
  CHECK(Points(program, "copy") == "m 1699999200 1 host=a\n");
}

}  // namespace
}  // namespace hg::tsd
