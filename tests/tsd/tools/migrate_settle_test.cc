// Several values at one time: the value that readers of the source see is migrated.

#include <doctest/doctest.h>

#include "storage/base/clock.h"
#include "storage/codec/compacted.h"
#include "tests/support/model_store.h"
#include "tests/tsd/tools/migrate_program.h"
#include "tsd/tools/migrate_range.h"
#include "tsd/tools/migrate_source.h"

namespace hg::tsd {
namespace {

const SourceRules kSettle{.points = true};

Cell CellAt(int64_t time_ms, std::initializer_list<codec::StoredPoint> points) {
  Cell cell{"t", {}, {}, time_ms};
  codec::EncodePointCell({points.begin(), points.size()}, &cell.qualifier, &cell.value);
  return cell;
}

codec::StoredPoint StoredAt(uint32_t second, uint64_t value) {
  return {codec::Qualifier::Seconds(second, 0), value};
}

codec::StoredPoint FloatAt(uint32_t second) {
  return {codec::Qualifier::Seconds(second, kFloatFlag | 3), 0x40B00000};  // 5.5
}

TEST_CASE("of several values at one time, the value of the newest cell is migrated") {
  const Cell both = CellAt(100, {StoredAt(0, 1), StoredAt(10, 2)});
  Row newer_single{"key", {CellAt(200, {StoredAt(0, 9)}), both}};
  SettleSourceRow(kSettle, &newer_single);
  CHECK(newer_single.cells ==
        std::vector<Cell>{CellAt(200, {StoredAt(0, 9)}), CellAt(100, {StoredAt(10, 2)})});
  Row older_single{"key", {CellAt(50, {StoredAt(0, 9)}), both}};
  SettleSourceRow(kSettle, &older_single);
  CHECK(older_single.cells == std::vector<Cell>{both});

  Row kinds{"key", {CellAt(100, {StoredAt(0, 5)}), CellAt(200, {FloatAt(0)})}};
  SettleSourceRow(kSettle, &kinds);
  CHECK(kinds.cells == std::vector<Cell>{CellAt(200, {FloatAt(0)})});

  Row untouched{"key", {CellAt(200, {StoredAt(20, 9)}), both, {"t", Bytes("\5\0\0", 3), "x", 1}}};
  const Row before = untouched;
  SettleSourceRow(kSettle, &untouched);
  CHECK(untouched.cells == before.cells);
}

TEST_CASE("the time of a migrated cell is lowered to the given maximum") {
  Row row{"key", {CellAt(100, {StoredAt(0, 1)}), CellAt(900, {StoredAt(1, 1)})}};
  SettleSourceRow({.points = true, .time_max_ms = 500}, &row);
  CHECK(row.cells[0].timestamp_ms == 100);
  CHECK(row.cells[1].timestamp_ms == 500);
}

TEST_CASE(
    "a point that was corrected next to a compacted cell is migrated, also in the next pass") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import("m 1699999200 1 host=a\nm 1699999210 2 host=a\n");
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  const std::vector<std::string> state = {"--state=" + program.Path("back"), "--again"};
  REQUIRE(program.Migrate(cluster.Uri(), program.Uri("copy"), state).exit == 0);

  const Row row = RowsOf(cluster.model, "tsdb")[0];
  RowMutation folded{row.key, {}};
  for (const Cell& cell : row.cells) folded.changes.push_back(DeleteColumn("t", cell.qualifier));
  REQUIRE(cluster.model.Mutate("tsdb", {folded}).ok());
  const Cell both = CellAt(0, {StoredAt(0, 1), StoredAt(10, 2)});
  const Cell nine = CellAt(0, {StoredAt(0, 9)});
  for (const Cell& cell : {both, nine}) {
    REQUIRE(
        cluster.model.Mutate("tsdb", {{row.key, {PutCell("t", cell.qualifier, cell.value)}}}).ok());
  }
  for (int pass = 0; pass < 2; ++pass) {
    const Outcome next = program.Migrate(cluster.Uri(), program.Uri("copy"), state);
    CAPTURE(next.err);
    CHECK(next.exit == 0);
    CHECK(Contains(next.out, pass == 0 ? "; 1 rows written" : "; 0 rows written"));
  }
  CHECK(program.Migrate(cluster.Uri(), program.Uri("copy"), {"--verify"}).exit == 0);
  program.Write("other", "tsd.storage.path = " + program.Path("copy") + "\n");
  const Outcome seen = program.Run({"scan", "--config=" + program.Path("other"), "--import",
                                    "1699999200", "1699999300", "none", "m"});
  CHECK(Contains(seen.out, "1699999200 9"));
}

TEST_CASE("a cell of a column that HBase deleted after the source wrote it gets the current time") {
  const MigrateProgram program;
  MigrateCluster cluster;
  program.Import(kMixedLines);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  const std::string whole = program.DumpOf(cluster, "tsdb");
  const Row row = RowsOf(cluster.model, "tsdb").at(0);
  const Cell cell = row.cells.at(0);
  const int64_t before_ms = SystemClock().NowMs();
  REQUIRE(cell.timestamp_ms < before_ms);
  REQUIRE(cluster.model.Mutate("tsdb", {{row.key, {DeleteColumn("t", cell.qualifier)}}}).ok());
  // With the time of the source, the cell would still be hidden.
  CellChange old = PutCell("t", cell.qualifier, cell.value);
  old.timestamp_ms = cell.timestamp_ms;
  REQUIRE(cluster.model.Mutate("tsdb", {{row.key, {old}}}).ok());
  REQUIRE_FALSE(program.DumpOf(cluster, "tsdb") == whole);
  const Outcome again = program.Migrate(program.Uri(), cluster.Uri(), {"--again"});
  CAPTURE(again.err);
  CHECK(again.exit == 0);
  CHECK(program.DumpOf(cluster, "tsdb") == whole);
  const auto written = cluster.model.Get("tsdb", row.key, "t", {cell.qualifier});
  REQUIRE(written.ok());
  REQUIRE(written->cells.size() == 1);
  CHECK(written->cells[0].timestamp_ms >= before_ms);
}

TEST_CASE("data that has expired in the target is left out and counted") {
  const MigrateProgram program;
  MigrateCluster cluster;
  MigrateCluster brief;
  program.Import(kMixedLines);
  REQUIRE(program.Migrate(program.Uri(), cluster.Uri()).exit == 0);
  FamilyDescriptor family{"t"};
  family.ttl_s = 3600;
  REQUIRE(brief.model.CreateTable({"tsdb", {family}, true}).ok());
  const Outcome to_cluster =
      program.Migrate(program.Uri(), brief.Uri(), {"--state=" + program.Path("brief")});
  CAPTURE(to_cluster.err);
  CHECK(to_cluster.exit == 0);
  CHECK(Contains(to_cluster.out, "9 items have expired there"));
  CHECK(RowsOf(brief.model, "tsdb").empty());

  const MigrateProgram short_lived("tsd.storage.ttl = 3600\n");
  const Outcome to_folder = short_lived.Migrate(cluster.Uri(), short_lived.Uri());
  CAPTURE(to_folder.err);
  CHECK(to_folder.exit == 0);
  CHECK(Contains(to_folder.out, "9 items have expired there"));
}

/// A store whose memory is full until it is flushed.
class FullModel : public ModelStore {
 public:
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    if (!refusal.ok()) return std::vector<Status>(rows.size(), refusal);
    return ModelStore::MutateRows(table, rows);
  }
  Status Flush() override {
    refusal = {};
    return {};
  }
  Status refusal;
};

TEST_CASE("if the memory of the target is full, it is flushed and the rows are written again") {
  for (const Status& refusal : {Status::Busy("full"), Status::Exhausted("no new series")}) {
    FullModel model;
    REQUIRE(model.CreateTable({"tsdb", {{"t"}}, false}).ok());
    model.refusal = refusal;
    SourceRows source;
    source.rows = {{"row", {{"t", "q", "v", 5}}}};
    const RangeWriter writer(model, "tsdb", {}, RangeWork::kWrite);
    const auto report = writer.Range(source, {}, {});
    REQUIRE(report.ok());
    CHECK(report->rows_missing == 1);
    CHECK(RowsOf(model, "tsdb").size() == 1);
  }
}

}  // namespace
}  // namespace hg::tsd
