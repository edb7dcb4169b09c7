// migrate between a data directory and HBase behind a gateway over the model: whole, interrupted,
// while the source is written to, and verified.

#include <doctest/doctest.h>

#include <atomic>

#include "storage/base/clock.h"
#include "storage/for_each_row.h"
#include "tests/support/hbase/gateway.h"
#include "tests/support/model_store.h"
#include "tests/support/tool_program.h"
#include "tsd/open_backend.h"
#include "tsd/tools/migrate_uri.h"

namespace hg::tsd {
namespace {

using hbase::Fate;
using hbase::Stage;

struct Cluster {
  Cluster()
      : gateway([this]() -> Store& { return model; },
                {.hook = [this](const std::string& method, Stage stage) {
                  return Judge(method, stage);
                }}) {}

  Fate Judge(const std::string& method, Stage stage) {
    if (stage == Stage::kAfter || method != "putMultiple") return Fate::kGoOn;
    return ++puts > puts_max ? Fate::kDrop : Fate::kGoOn;
  }
  [[nodiscard]] std::string Uri() const {
    return "hbase://127.0.0.1:" + std::to_string(gateway.port());
  }

  std::atomic<int> puts = 0;
  std::atomic<int> puts_max = 1 << 30;
  ModelStore model;
  hbase::FakeGateway gateway;
};

std::vector<Row> RowsOf(Store& store, const char* table) {
  ScanSpec spec;
  spec.table = table;
  std::vector<Row> all;
  CHECK(ForEachRow(store, spec, [&all](const Row& row) {
          all.push_back(row);
          return Status();
        }).ok());
  return all;
}

class Program : public ToolProgram {
 public:
  Program() : ToolProgram(OpenBackend, "tsd.storage.hbase.thrift.deadline = 50\n") {}

  [[nodiscard]] std::string Uri(const std::string& folder = "data") const {
    return "dir://" + Path(folder);
  }
  [[nodiscard]] Outcome Migrate(const std::string& from, const std::string& to,
                                std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"migrate", "--from=" + from, "--to=" + to});
    if (more.size() == 3 || !more[3].starts_with("--state")) {
      more.push_back("--state=" + Path("state"));
    }
    return Run(more);
  }
  [[nodiscard]] std::string DumpOf(const Cluster& cluster, const std::string& table) const {
    return DumpWith("tsd.storage.backend = hbase\ntsd.storage.hbase.thrift = 127.0.0.1:" +
                        std::to_string(cluster.gateway.port()) + "\n",
                    table);
  }
  [[nodiscard]] std::string DumpOf(const std::string& folder, const std::string& table) const {
    return DumpWith("tsd.storage.path = " + Path(folder) + "\n", table);
  }

 private:
  [[nodiscard]] std::string DumpWith(const std::string& settings, const std::string& table) const {
    Write("other", settings);
    const Outcome outcome = Run({"dump", "--config=" + Path("other"), table});
    CHECK(outcome.exit == 0);
    return outcome.out;
  }
};

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// So many series with a point each.
std::string Series(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    lines += "m " + std::to_string(1699999200 + i) + " " + std::to_string(i) + " host=h" +
             std::to_string(i) + "\n";
  }
  return lines;
}

// Every width, both resolutions, a row of several points, an annotation beside points.
const std::string kMixed =
    "m 1699999200 1 host=a\nm 1699999201 300 host=a\nm 1699999202 70000 host=a\n"
    "m 1699999203 5000000000 host=a\nm 1699999204 1.5 host=a\nm 1699999205123 7 host=a\n"
    "m 1699999205124 4.25 host=a\nm 1700009200 -1 host=b\nsys.other 1699999200 2 host=b\n";

TEST_CASE("a data directory goes to HBase and from there into another one, as it was") {
  const Program program;
  Cluster cluster;
  program.Import(kMixed);
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

TEST_CASE("interrupted, it goes on where it was") {
  const Program program;
  Cluster cluster;
  program.Import(Series(3000));
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

TEST_CASE("a row that is missing or damaged on the other side is found, and put right") {
  const Program program;
  Cluster cluster;
  program.Import(kMixed);
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

TEST_CASE("a later pass looks at what has changed in HBase since, and brings it over") {
  const Program program;
  Cluster cluster;
  program.Import(kMixed);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  // As if it had been written an hour ago.
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

  // Somebody writes a point, and somebody compacts another row.
  REQUIRE(cluster.model
              .Mutate("tsdb", {{rows[2].key, {PutCell("t", Bytes("\x70\x00", 2), Bytes(1, '\5'))}}})
              .ok());
  const Outcome next =
      program.Migrate(cluster.Uri(), program.Uri("copy"), {"--state=" + program.Path("follow")});
  REQUIRE(next.exit == 0);
  CHECK(Contains(next.out, "pass 4: 1 rows of 2 items looked at"));
  CHECK(Contains(next.out, "1 rows written"));
  CHECK(program.Migrate(cluster.Uri(), program.Uri("copy"), {"--verify"}).exit == 0);

  // A pass over changes that was interrupted behind the row begins anew.
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

TEST_CASE("a store that has rows already is not mixed with another one") {
  const Program program;
  Cluster cluster;
  program.Import(kMixed);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  const Outcome refused =
      program.Migrate(program.Uri(), cluster.Uri(), {"--state=" + program.Path("another")});
  CHECK(refused.exit == 1);
  CHECK(Contains(refused.err, "is not empty"));
  const Outcome other = program.Migrate(cluster.Uri(), program.Uri("copy"));
  CHECK(other.exit == 1);
  CHECK(Contains(other.err, "is of a migration from " + program.Uri()));
}

TEST_CASE("what only the other side has stays, and is removed on demand") {
  const Program program;
  Cluster cluster;
  program.Import(kMixed);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  const std::string whole = program.DumpOf(cluster, "tsdb");
  const Bytes key = "\1\2\3\4\5\6\7\1\2\3\4\5\6";
  REQUIRE(cluster.model.Mutate("tsdb", {{key, {PutCell("t", Bytes(2, '\0'), "\1")}}}).ok());
  const Outcome kept = program.Migrate(program.Uri(), cluster.Uri());
  CHECK(kept.exit == 0);
  CHECK(Contains(kept.out, "1 rows and 1 items are only on the other side"));
  CHECK_FALSE(program.DumpOf(cluster, "tsdb") == whole);
  CHECK(program.Migrate(program.Uri(), cluster.Uri(), {"--delete"}).exit == 0);
  CHECK(program.DumpOf(cluster, "tsdb") == whole);
}

TEST_CASE("tables come into a namespace, and out of it") {
  const Program program;
  Cluster cluster;
  program.Import(kMixed);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri() + "/space").exit == 0);
  CHECK(cluster.model.DescribeTable("space:tsdb").ok());
  CHECK_FALSE(cluster.model.DescribeTable("tsdb").ok());
  REQUIRE(program
              .Migrate(cluster.Uri() + "/space", program.Uri("copy"),
                       {"--state=" + program.Path("back")})
              .exit == 0);
  CHECK(program.DumpOf("copy", "tsdb") == program.DumpOf("data", "tsdb"));
}

TEST_CASE("words that name no store are refused, and say why") {
  for (const char* bad : {"dir://relative", "ftp://x", "hbase://", "hbase:///space",
                          "hbase://host:1/a/b", "hbase://host:1/", "/path"}) {
    CAPTURE(bad);
    const Status refused = SettingsOfUri(Config(), bad).status();
    CHECK(refused.code() == StatusCode::kInvalidArgument);
    CHECK(refused.message().find(bad) != std::string_view::npos);
  }
  const Program program;
  CHECK(program.Run({"migrate", "--from=dir:///a"}).exit == 2);
  CHECK(program.Run({"migrate", "--from=dir:///a", "--to=dir:///a"}).exit == 2);
  CHECK(program.Migrate("dir:///a", "dir:///b", {"--workers=99"}).exit == 1);
  CHECK(program.Migrate("dir:///a", "dir:///b", {"--verify", "--delete"}).exit == 1);
  program.Write("state", "{}");
  const Outcome damaged = program.Migrate(program.Uri(), program.Uri("copy"));
  CHECK(damaged.exit == 1);
  CHECK(Contains(damaged.err, "state file"));
}

TEST_CASE("load looks at its own tables, whatever else the cluster has") {
  Cluster cluster;
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
