// Failures of migrate: missing tables, failing workers, a killed call.

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <thread>

#include "tests/tsd/tools/migrate_program.h"
#include "tsd/tools/migrate_reader.h"
#include "tsd/tools/migrate_uri.h"

namespace hg::tsd {
namespace {

TEST_CASE("a migration or comparison from a missing source is an error") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(kMixedLines);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--state=" + program.Path("other")}, {"--verify"}}) {
    const Outcome typo = program.Migrate(cluster.Uri() + "/typo", program.Uri("copy"), more);
    CAPTURE(typo.out);
    CHECK(typo.exit == 1);
    CHECK(Contains(typo.err, "typo:tsdb-uid"));
    CHECK(program.Migrate(program.Uri("absent"), cluster.Uri(), more).exit == 1);
  }
}

TEST_CASE(
    "tables missing in the source are reported, and their rows in the target count as extra") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(kMixedLines);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  const TableDescriptor tree = *cluster.model.DescribeTable("tsdb-tree");
  REQUIRE(cluster.model.DropTable("tsdb-tree").ok());
  const std::vector<std::string> state = {"--state=" + program.Path("back")};
  const Outcome first = program.Migrate(cluster.Uri(), program.Uri("copy"), state);
  REQUIRE(first.exit == 0);
  CHECK(Contains(first.err, "the source has no table tsdb-tree"));

  // The table is created later, with a row that is older than the first pass.
  REQUIRE(cluster.model.CreateTable(tree).ok());
  RowMutation row{"tree", {PutCell("t", "tree", "{}")}};
  row.changes[0].timestamp_ms = 1000;
  REQUIRE(cluster.model.Mutate("tsdb-tree", {row}).ok());
  REQUIRE(program.Migrate(cluster.Uri(), program.Uri("copy"), state).exit == 0);
  CHECK_FALSE(program.DumpOf("copy", "tsdb-tree").empty());
  CHECK(program.DumpOf("copy", "tsdb-tree") == program.DumpOf(cluster, "tsdb-tree"));

  REQUIRE(cluster.model.DropTable("tsdb-tree").ok());
  const Outcome verified = program.Migrate(cluster.Uri(), program.Uri("copy"), {"--verify"});
  CHECK(verified.exit == 0);
  CHECK(Contains(verified.out, "1 rows and 1 items are only in the target"));
}

TEST_CASE("the state file exists before the first row is written") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(kMixedLines);
  std::atomic<int> without = 0;
  cluster.at_put = [&] { without += std::filesystem::exists(program.Path("state")) ? 0 : 1; };
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  CHECK(cluster.puts > 0);
  CHECK(without == 0);
}

TEST_CASE(
    "recorded progress is durable: writes to HBase are at least logged, whatever the "
    "settings say") {
  Config config;
  for (const char* weak : {"none", "buffered"}) {
    config.Set("tsd.storage.durability", weak);
    CHECK(SettingsOfUri(config, "hbase://h:1")->String("tsd.storage.durability") == "logged");
  }
  config.Set("tsd.storage.durability", "synced");
  CHECK(SettingsOfUri(config, "hbase://h:1")->String("tsd.storage.durability") == "synced");
}

/// A stream buffer that calls a function when text is written to it.
class TellingBuffer : public std::stringbuf {
 public:
  std::atomic<bool> told = false;

 private:
  int sync() override {
    told = true;
    return 0;
  }
};

/// Refuses points. Writes of names wait until the refusal was reported.
class RefusingModel : public ModelStore {
 public:
  explicit RefusingModel(const std::atomic<bool>* told) : told_(told) {}
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    if (table == "tsdb") {
      return std::vector<Status>(rows.size(), Status::InvalidArgument("refused here"));
    }
    while (!*told_) std::this_thread::yield();
    names += rows.size();
    return ModelStore::MutateRows(table, rows);
  }
  std::atomic<size_t> names = 0;

 private:
  const std::atomic<bool>* const told_;
};

TEST_CASE("if one worker fails, the others end with their current chunk") {
  const MigrateProgram program;
  program.Import(SeriesLines(3000));
  TellingBuffer err;
  RefusingModel model(&err.told);
  const hbase::FakeGateway gateway([&]() -> Store& { return model; }, {});
  std::istringstream in;
  std::ostringstream out;
  std::ostream err_stream(&err);
  const int exit =
      RunProgram({"migrate", "--config=" + program.Path("conf"), "--from=" + program.Uri(),
                  "--to=hbase://127.0.0.1:" + std::to_string(gateway.port()), "--workers=4",
                  "--state=" + program.Path("state")},
                 OpenBackend, in, out, err_stream);
  CAPTURE(err.str());
  CHECK(exit == 1);
  CHECK(Contains(err.str(), "put of table tsdb: "));
  CHECK(model.names > 0);
  CHECK(model.names <= 512);
}

TEST_CASE(
    "parts of a table are migrated by several workers, and with a rate rows are not counted "
    "first") {
  const MigrateProgram program("tsd.storage.salt.width = 1\ntsd.storage.salt.buckets = 4\n");
  MigrateCluster cluster;
  program.Import(SeriesLines(2000));
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri(), {"--workers=1"}).exit == 0);
  const auto scans_of = [&](const std::string& folder, const std::string& option) {
    cluster.scans = 0;
    const Outcome outcome =
        program.Migrate(cluster.Uri(), program.Uri(folder),
                        {"--state=" + program.Path("to" + folder), "--workers=4", option});
    CHECK(outcome.exit == 0);
    CHECK(program.DumpOf(folder, "tsdb") == program.DumpOf("data", "tsdb"));
    return cluster.scans.load();
  };
  const int counted = scans_of("a", "--again");
  const int plain = scans_of("b", "--no-count");
  CHECK(counted == 2 * plain);
  CHECK(plain >= 7);  // four buckets, three tables
  CHECK(scans_of("c", "--rate=1000000") == plain);
}

/// Refuses requests for more than three rows, and requests for the row "wide".
class NarrowModel : public ModelStore {
 public:
  std::vector<Result<Row>> GetRows(const std::string& table, const std::vector<Bytes>& keys,
                                   const CellSelection& wanted) override {
    if (keys.size() <= 3 && std::find(keys.begin(), keys.end(), "wide") == keys.end()) {
      return ModelStore::GetRows(table, keys, wanted);
    }
    return std::vector<Result<Row>>(keys.size(), Status::LimitExceeded("too much"));
  }
};

TEST_CASE("rows that exceed one response are requested in halves") {
  NarrowModel model;
  REQUIRE(model.CreateTable({"tsdb", {{"t"}}, false}).ok());
  std::vector<Bytes> keys;
  for (int i = 0; i < 20; ++i) {
    keys.push_back("row" + std::to_string(i));
    REQUIRE(model.Mutate("tsdb", {{keys.back(), {PutCell("t", "q", keys.back())}}}).ok());
  }
  keys.push_back("none");
  const auto rows = GetWholeRows(model, "tsdb", keys);
  REQUIRE(rows.ok());
  REQUIRE(rows->size() == keys.size());
  for (size_t i = 0; i < keys.size(); ++i) CHECK((*rows)[i].key == keys[i]);
  CHECK((*rows)[19].cells.size() == 1);
  CHECK((*rows)[20].empty());
  keys.emplace_back("wide");
  const Status refused = GetWholeRows(model, "tsdb", keys).status();
  CHECK(refused.code() == StatusCode::kLimitExceeded);
  CHECK(Contains(std::string(refused.message()), ToHex("wide")));
}

TEST_CASE("changed rows are read in chunks of limited size") {
  ModelStore model;
  REQUIRE(model.CreateTable({"tsdb", {{"t"}}, false}).ok());
  for (int i = 0; i < 100; ++i) {
    REQUIRE(model
                .Mutate("tsdb", {{"row" + std::to_string(100 + i),
                                  {PutCell("t", "q", Bytes(size_t{1} << 20, 'v'))}}})
                .ok());
  }
  MigratePart part;
  part.table = "tsdb";
  MigrateReader reader(model, part, 0);
  REQUIRE(reader.Open().ok());
  size_t rows = 0;
  for (size_t chunk = 0;; ++chunk) {
    const auto next = reader.Next();
    REQUIRE(next.ok());
    if (next->rows.empty()) break;
    rows += next->rows.size();
    if (chunk > 0) CHECK(next->rows.size() <= 4);
  }
  CHECK(rows == 100);
}

}  // namespace
}  // namespace hg::tsd
