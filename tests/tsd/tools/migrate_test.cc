// migrate between a data directory and HBase behind a gateway over the model: complete and
// interrupted passes, passes while the source is written to, and comparisons.

#include <doctest/doctest.h>

#include "storage/base/clock.h"
#include "tests/tsd/tools/migrate_program.h"
#include "tsd/tools/migrate_uri.h"

namespace hg::tsd {
namespace {

TEST_CASE("a data directory is migrated to HBase and from there to another one, unchanged") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(kMixedLines);
  const Outcome out = program.Migrate(program.Uri(), cluster.Uri());
  CAPTURE(out.err);
  REQUIRE(out.exit == 0);
  CHECK(Contains(out.out, "pass 1: "));
  for (const char* table : {"tsdb", "tsdb-uid"}) {
    CHECK(program.DumpOf(cluster, table) == program.DumpOf("data", table));
  }
  const Outcome back =
      program.Migrate(cluster.Uri(), program.Uri("copy"), {"--state=" + program.Path("back")});
  REQUIRE(back.exit == 0);
  for (const char* table : {"tsdb", "tsdb-uid"}) {
    CHECK(program.DumpOf("copy", table) == program.DumpOf("data", table));
  }
  CHECK(program.Migrate(program.Uri("copy"), cluster.Uri(), {"--verify"}).exit == 0);
}

TEST_CASE("an interrupted migration continues where it stopped") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(SeriesLines(3000));
  cluster.puts_max = 9;  // of eighteen
  const Outcome cut =
      program.Migrate(program.Uri(), cluster.Uri(), {"--state=" + program.Path("state")});
  CHECK(cut.exit == 1);
  CHECK(Contains(cut.err, "putMultiple"));
  cluster.puts_max = 1 << 30;
  const int first = cluster.puts.exchange(0);
  const Outcome rest =
      program.Migrate(program.Uri(), cluster.Uri(), {"--state=" + program.Path("state")});
  CAPTURE(rest.err);
  REQUIRE(rest.exit == 0);
  CHECK(first > 9);
  CHECK(cluster.puts.load() <= 11);
  for (const char* table : {"tsdb", "tsdb-uid"}) {
    CHECK(program.DumpOf(cluster, table) == program.DumpOf("data", table));
  }
}

TEST_CASE("a missing or damaged row of the target is found and corrected") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(kMixedLines);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  CHECK(program.Migrate(program.Uri(), cluster.Uri(), {"--verify"}).exit == 0);
  const std::string whole = program.DumpOf(cluster, "tsdb");

  const std::vector<Row> rows = RowsOf(cluster.model, "tsdb");
  REQUIRE(rows.size() == 3);
  Cell damaged = rows[0].cells[0];
  damaged.value[0] ^= 1;
  REQUIRE(cluster.model
              .Mutate("tsdb", {{rows[0].key, {PutCell("t", damaged.qualifier, damaged.value)}}})
              .ok());
  REQUIRE(cluster.model.DeleteRow("tsdb", rows[2].key).ok());

  const Outcome found = program.Migrate(program.Uri(), cluster.Uri(), {"--verify"});
  CHECK(found.exit == 1);
  CHECK(Contains(found.out, "2 rows differ, 1 of them were missing"));
  CHECK(Contains(found.err, ToHex(rows[0].key)));
  CHECK_FALSE(program.DumpOf(cluster, "tsdb") == whole);

  REQUIRE(program.Migrate(program.Uri(), cluster.Uri(), {"--again"}).exit == 0);
  CHECK(program.DumpOf(cluster, "tsdb") == whole);
}

TEST_CASE("a later pass migrates what has changed in HBase since") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(kMixedLines);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  // Changes the times of all cells, as if they had been written an hour ago.
  const int64_t hour_ago_ms = SystemClock().NowMs() - 3'600'000;
  const std::vector<Row> rows = RowsOf(cluster.model, "tsdb");
  for (const char* table : {"tsdb", "tsdb-uid"}) {
    const std::vector<Row> all = RowsOf(cluster.model, table);
    const auto descriptor = *cluster.model.DescribeTable(table);
    REQUIRE(cluster.model.DropTable(table).ok());
    REQUIRE(cluster.model.CreateTable(descriptor).ok());
    for (const Row& row : all) {
      RowMutation mutation{row.key, {}};
      for (const Cell& cell : row.cells) {
        mutation.changes.push_back(PutCell(cell.family, cell.qualifier, cell.value));
        mutation.changes.back().timestamp_ms = hour_ago_ms;
      }
      REQUIRE(cluster.model.Mutate(table, {mutation}).ok());
    }
  }
  const std::vector<std::string> follow = {"--state=" + program.Path("follow"), "--follow=2",
                                           "--pause=0"};
  const Outcome first = program.Migrate(cluster.Uri(), program.Uri("copy"), follow);
  CAPTURE(first.err);
  REQUIRE(first.exit == 0);
  CHECK(Contains(first.out, "pass 2: 0 rows"));
  CHECK(Contains(first.out, "pass 3: 0 rows"));

  // Another client writes a point.
  REQUIRE(cluster.model
              .Mutate("tsdb", {{rows[2].key, {PutCell("t", Bytes("\x70\x00", 2), Bytes(1, '\5'))}}})
              .ok());
  const Outcome next =
      program.Migrate(cluster.Uri(), program.Uri("copy"), {"--state=" + program.Path("follow")});
  REQUIRE(next.exit == 0);
  CHECK(Contains(next.out, "pass 4: 1 rows of 2 items looked at"));
  CHECK(Contains(next.out, "1 rows written"));
  CHECK(program.Migrate(cluster.Uri(), program.Uri("copy"), {"--verify"}).exit == 0);

  // A pass over the changes was interrupted. A row before its position changes again, so the next
  // pass starts again.
  std::string state;
  std::getline(std::ifstream(program.Path("follow")), state, '\0');
  const size_t done = state.rfind("\"done\": true");
  REQUIRE(done != std::string::npos);
  program.Write("follow", state.replace(done, 12, "\"done\": false"));
  REQUIRE(cluster.model
              .Mutate("tsdb", {{rows[0].key, {PutCell("t", Bytes("\x71\x00", 2), Bytes(1, '\5'))}}})
              .ok());
  REQUIRE(program.Migrate(cluster.Uri(), program.Uri("copy"), {"--state=" + program.Path("follow")})
              .exit == 0);
  CHECK(program.Migrate(cluster.Uri(), program.Uri("copy"), {"--verify"}).exit == 0);
}

TEST_CASE("a store that has rows of another origin is refused as the target of a migration") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(kMixedLines);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  const Outcome refused =
      program.Migrate(program.Uri(), cluster.Uri(), {"--state=" + program.Path("another")});
  CHECK(refused.exit == 1);
  CHECK(Contains(refused.err, "is not empty"));
  const Outcome other = program.Migrate(cluster.Uri(), program.Uri("copy"));
  CHECK(other.exit == 1);
  CHECK(Contains(other.err, "is of a migration from " + program.Uri()));
}

TEST_CASE("extra rows of the target stay, and are removed on request") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(kMixedLines);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  const std::string whole = program.DumpOf(cluster, "tsdb");
  const Bytes key = "\1\2\3\4\5\6\7\1\2\3\4\5\6";
  REQUIRE(cluster.model.Mutate("tsdb", {{key, {PutCell("t", Bytes(2, '\0'), "\1")}}}).ok());
  const Outcome kept = program.Migrate(program.Uri(), cluster.Uri());
  CHECK(kept.exit == 0);
  CHECK(Contains(kept.out, "1 rows and 1 items are only in the target"));
  CHECK_FALSE(program.DumpOf(cluster, "tsdb") == whole);
  CHECK(program.Migrate(program.Uri(), cluster.Uri(), {"--delete"}).exit == 0);
  CHECK(program.DumpOf(cluster, "tsdb") == whole);
}

TEST_CASE("tables are migrated into a namespace, and out of it") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(kMixedLines);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri() + "/space").exit == 0);
  CHECK(cluster.model.DescribeTable("space:tsdb").ok());
  CHECK_FALSE(cluster.model.DescribeTable("tsdb").ok());
  REQUIRE(program
              .Migrate(cluster.Uri() + "/space", program.Uri("copy"),
                       {"--state=" + program.Path("back")})
              .exit == 0);
  CHECK(program.DumpOf("copy", "tsdb") == program.DumpOf("data", "tsdb"));
}

TEST_CASE("invalid addresses of stores are refused with the reason") {
  for (const char* bad : {"dir://relative", "ftp://x", "hbase://", "hbase:///space",
                          "hbase://host:1/a/b", "hbase://host:1/", "/path"}) {
    CAPTURE(bad);
    const Status refused = SettingsOfUri(Config(), bad).status();
    CHECK(refused.code() == StatusCode::kInvalidArgument);
    CHECK(refused.message().find(bad) != std::string_view::npos);
  }
  const MigrateProgram program;
  CHECK(program.Run({"migrate", "--from=dir:///a"}).exit == 2);
  CHECK(program.Run({"migrate", "--from=dir:///a", "--to=dir:///a"}).exit == 2);
  CHECK(program.Migrate("dir:///a", "dir:///b", {"--workers=99"}).exit == 1);
  CHECK(program.Migrate("dir:///a", "dir:///b", {"--verify", "--delete"}).exit == 1);
  program.Import(kMixedLines);
  program.Write("state", "{}");
  const Outcome damaged = program.Migrate(program.Uri(), program.Uri("copy"));
  CHECK(damaged.exit == 1);
  CHECK(Contains(damaged.err, "state file"));
}

TEST_CASE("load checks only its own tables, whatever other tables the cluster has") {
  MigrateCluster cluster;
  REQUIRE(cluster.model.CreateTable({"others", {{"f"}}, false}).ok());
  REQUIRE(cluster.model.Mutate("others", {{"row", {PutCell("f", "q", "v")}}}).ok());
  const ToolProgram program(OpenBackend,
                            "tsd.storage.backend = hbase\ntsd.storage.hbase.thrift = "
                            "127.0.0.1:" +
                                std::to_string(cluster.gateway.port()) + "\n");
  CHECK(program.Run({"load"}, "tsdb\t00\tt\t0010\t2a\n").exit == 0);
  CHECK(program.Run({"load"}, "tsdb\t01\tt\t0010\t2a\n").exit == 1);
}

}  // namespace
}  // namespace hg::tsd
