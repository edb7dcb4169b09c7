// Import and export of points as lines and as comma-separated values.

#include <doctest/doctest.h>
#include <zlib.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "tests/support/model_backend.h"
#include "tests/tsd/tools/model_program.h"
#include "tsd/counted_store.h"

namespace hg::tsd {
namespace {

/// Accepts one new name, and then refuses names until it is flushed. It refuses alternately as if
/// all points or only new series had no memory.
class FullStore : public CountedStore {
 public:
  using CountedStore::CountedStore;

  Result<std::vector<int64_t>> IncrementColumns(const std::string& table, ByteView key,
                                                const std::vector<ColumnIncrement>& columns,
                                                std::optional<int64_t> ttl_ms) override {
    if (std::exchange(full_, true))
      return ++refusals_ % 2 == 0 ? Status::Busy("full") : Status::Exhausted("no new series");
    return CountedStore::IncrementColumns(table, key, columns, ttl_ms);
  }
  Status Flush() override {
    full_ = false;
    return CountedStore::Flush();
  }

 private:
  bool full_ = false;
  int refusals_ = 0;
};

Result<std::unique_ptr<Backend>> OpenFullStore(const Config& config, const std::string& /*words*/,
                                               StoreUse /*use*/) {
  return OpenModelBackendThrough(config, [&](Store& model) -> Result<std::shared_ptr<Store>> {
    RETURN_IF_ERROR(CreateTables(config, model));
    return std::shared_ptr<Store>(std::make_shared<FullStore>(model));
  });
}

/// Refuses all points as invalid, as a table of HBase with other rules may do.
class RefusingStore : public CountedStore {
 public:
  using CountedStore::CountedStore;

  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    if (table != "tsdb") return CountedStore::MutateRows(table, rows);
    return std::vector<Status>(rows.size(), Status::InvalidArgument("this table takes no points"));
  }
};

TEST_CASE("a batch that the store refuses ends an import, also with --skip-errors") {
  const ToolProgram program(
      [](const Config& config, const std::string& /*words*/, StoreUse /*use*/) {
        return OpenModelBackendThrough(config, [&](Store& model) -> Result<std::shared_ptr<Store>> {
          RETURN_IF_ERROR(CreateTables(config, model));
          return std::shared_ptr<Store>(std::make_shared<RefusingStore>(model));
        });
      },
      "");
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += "m " + std::to_string(1699999200 + i) + " 1 host=a\n";
  const Outcome outcome = program.Run({"import", "--skip-errors", "--", "-"}, lines);
  CHECK(outcome.exit == 1);
  CHECK(outcome.err.find("this table takes no points") != std::string::npos);
  CHECK(outcome.err.find("skipped") == std::string::npos);
}

TEST_CASE("imported points are printed as lines that import accepts") {
  const ModelProgram program;
  const std::string lines =
      "m 1699999200 1 host=a\n"
      "m 1699999201 300 host=a\n"
      "m 1699999202500 1.5 host=a\n"
      "m 1699999200 -7 host=b core=1\n";
  program.Import(lines);
  CHECK(program.Scan({"1699999200", "1699999300", "sum", "m"}) == lines);
}

TEST_CASE("an import waits for a flush if there is no memory for new names") {
  const ToolProgram program(OpenFullStore, "");
  const std::string lines = "m 1699999200 1 host=a\nm 1699999200 2 host=b\n";
  const Outcome outcome = program.Run({"import", "--", "-"}, lines);
  CAPTURE(outcome.err);
  CHECK(outcome.exit == 0);
  CHECK(program.Scan({"1699999000", "1699999900", "sum", "m"}) == lines);
}

TEST_CASE("import stores whole numbers in the shortest form and other numbers as floats") {
  const ModelProgram program("tsd.storage.enable_compaction = false\n");
  program.Import("m 1699999200 300 h=a\nm 1699999201 0.1 h=a\n");
  const Outcome dump = program.Run({"dump", "tsdb"});
  CHECK(dump.out ==
        "0000016553ede0000001000001\tt\t0001\t012c\n"
        "0000016553ede0000001000001\tt\t001b\t3dcccccd\n");
}

TEST_CASE("an invalid line ends the import, and earlier points are stored") {
  const ModelProgram program;
  const std::string good = "m 1699999200 1 host=a\n";
  for (const char* bad :
       {"", "m", "m 1699999201", "m 1699999201 1", "m 1699999201 1 host", "m 1699999201 1 host=",
        "m 1699999201 1 host=a host=b", "m  1699999201 1 host=a", "m 1699999201  1 host=a",
        "m 0 1 host=a", "m -5 1 host=a", "m 1699999201.5 1 host=a", "m 1699999201 NaN host=a",
        "m 1699999201 1e400 host=a", "m*n 1699999201 1 host=a", "m 1699999200 1 host=a"}) {
    const ModelProgram one;
    const Outcome outcome =
        one.Run({"import", "--", "-"}, good + bad + "\nm 1699999202 2 host=a\n");
    CAPTURE(bad);
    CHECK(outcome.exit == 1);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find("-:2") != std::string::npos);
    CHECK(one.Scan({"1699999200", "sum", "m"}) == good);
  }
}

TEST_CASE("with --skip-errors invalid lines are skipped") {
  const ModelProgram program;
  const std::string lines = "m 1699999200 1 host=a\nbad\nm 1699999202 2 host=a\n";
  CHECK(program.Run({"import", "--skip-errors", "--", "-"}, lines).exit == 0);
  CHECK(program.Scan({"1699999200", "sum", "m"}) ==
        "m 1699999200 1 host=a\nm 1699999202 2 host=a\n");
}

TEST_CASE("a line that ends after its time ends the import, with or without --skip-errors") {
  const ModelProgram program;
  const std::string good = "m 1699999200 1 host=a\n";
  const Outcome outcome =
      program.Run({"import", "--skip-errors", "--", "-"},
                  good + "m 1699999201 \nm\nm 1699999201\nm 1699999202 2 host=a\n");
  CHECK(outcome.exit == 1);
  CHECK(outcome.err.find("-:4") != std::string::npos);
  CHECK(program.Scan({"1699999200", "sum", "m"}) == good);
}

TEST_CASE("the times of a series must ascend, whatever the order of its tags") {
  const ModelProgram program;
  const std::string lines = "m 1699999200 1 a=1 b=2\nm 1699999200 2 a=1\nm 1699999200 3 b=2  a=1\n";
  const Outcome outcome = program.Run({"import", "--", "-"}, lines);
  CHECK(outcome.exit == 1);
  CHECK(outcome.err.find("-:3") != std::string::npos);
}

TEST_CASE("tsd.core.bulk.allow_out_of_order_timestamps allows points in any order") {
  const ModelProgram program("tsd.core.bulk.allow_out_of_order_timestamps = true\n");
  program.Import("m 1699999201 1 host=a\nm 1699999200 2 host=a\n");
  CHECK(program.Scan({"1699999200", "sum", "m"}) ==
        "m 1699999200 2 host=a\nm 1699999201 1 host=a\n");
}

TEST_CASE("rows of comma-separated values are imported by the names of their columns") {
  const ModelProgram program;
  const std::string rows =
      "\xEF\xBB\xBFhost,value,metric,time,core\r\n"
      "a,1,m,1699999200,\r\n"
      "\r\n"
      "\"b\",0.1,\"m\",1699999200500,1\n"
      "b,-7,m.two,1699999201,1\n";
  CHECK(program.Run({"import", "--csv", "--", "-"}, rows).exit == 0);
  CHECK(program.Scan({"1699999200", "1699999300", "sum", "m", "sum", "m.two"}) ==
        "m 1699999200 1 host=a\n"
        "m 1699999200500 0.1 host=b core=1\n"
        "m.two 1699999201 -7 host=b core=1\n");
}

TEST_CASE("a CSV row whose cell contains a zero byte is not taken for another series") {
  const ModelProgram program;
  const std::string rows = std::string("metric,time,value,a,b\nm,1699999200,1,x,y\n") +
                           "m,1699999201,2,x" + '\0' + "b" + '\0' + "y,\n";
  const Outcome outcome = program.Run({"import", "--csv", "--", "-"}, rows);
  CHECK(outcome.exit == 1);
  CHECK(outcome.err.find("-:3") != std::string::npos);
  CHECK(program.Scan({"1699999200", "sum", "m"}) == "m 1699999200 1 a=x b=y\n");
}

TEST_CASE("an invalid CSV row is reported with its line, and skipped on request") {
  const std::string head = "metric,time,value,host\nm,1699999200,1,a\n";
  const struct {
    const char* row;
    const char* why;
  } cases[] = {
      {"m,1699999201,1", "the row has 3 cells, the first row has 4"},
      {"m,1699999201,x,a", "invalid value"},
      {"m,1699999201,,a", "invalid value"},
      {"m,1699999201.5,1,a", "invalid time"},
      {"m,0,1,a", "the time 0 cannot be stored"},
      {",1699999201,1,a", "the row has no metric"},
      {"m,1699999201,1,", "Need at least one tag"},
      {"m,1699999201,1,a b", "illegal character"},
      {"m,1699999201,1,\"a\"b", "a quote within a cell"},
      {"m,1699999201,1,a\"b", "a quote within a cell"},
      {"m,1699999200,1,a", "is not after the series' previous point"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.row);
    const ModelProgram program;
    const std::string rows = head + c.row + "\nm,1699999209,2,a\n";
    const Outcome outcome = program.Run({"import", "--csv", "--", "-"}, rows);
    CHECK(outcome.exit == 1);
    CHECK(outcome.err.find("-:3: ") != std::string::npos);
    CHECK(outcome.err.find(c.why) != std::string::npos);
    CHECK(program.Scan({"1699999200", "sum", "m"}) == "m 1699999200 1 host=a\n");
    const ModelProgram skipping;
    CHECK(skipping.Run({"import", "--csv", "--skip-errors", "--", "-"}, rows).exit == 0);
    CHECK(skipping.Scan({"1699999200", "sum", "m"}) ==
          "m 1699999200 1 host=a\nm 1699999209 2 host=a\n");
  }
  const Outcome open =
      ModelProgram().Run({"import", "--csv", "--", "-"}, head + "m,1699999201,1,\"a\nb\n");
  CHECK(open.err.find("-:3: a cell in quotes has no closing quote") != std::string::npos);
}

TEST_CASE("with --skip-errors a row whose name has the bytes of another name is skipped") {
  const ModelProgram program;
  const std::string rows =
      "metric,time,value,host\nm,1699999200,1,\xD0\xAB"
      "1\nm,1699999201,2,\xD0\x96"
      "1\nm,1699999202,3,a\n";
  const Outcome outcome = program.Run({"import", "--csv", "--skip-errors", "--", "-"}, rows);
  CHECK(outcome.exit == 0);
  CHECK(outcome.err.find("skipped -:3: ") != std::string::npos);
  CHECK(program.Scan({"1699999200", "sum", "m"}).find("1699999202 3 host=a") != std::string::npos);
}

TEST_CASE("a CSV file whose first row does not name the required columns is refused") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "there is no first row"},
      {"metric,value,host\n", "does not name the column \"time\""},
      {"metric,time,value,host,host\n", "the column \"host\" occurs twice"},
      {"metric,time,value,\n", "column 4 has no name"},
      {"metric,time,value,tag:\n", "column 4 has no name"},
      {"metric,time,value,time\n", "the column \"time\" occurs twice"},
      {"metric,time,value,host,tag:host\n", "the column \"host\" occurs twice"},
  };
  for (const auto& [rows, why] : cases) {
    const Outcome outcome =
        ModelProgram().Run({"import", "--csv", "--skip-errors", "--", "-"}, rows);
    CHECK(outcome.exit == 1);
    CHECK(outcome.err.find(why) != std::string::npos);
  }
}

TEST_CASE("exported points are imported again unchanged") {
  const ModelProgram program("tsd.core.tag.allow_specialchars = ,\n");
  program.Import(
      "m 1699999200 1 host=a\nm 1699999201500 0.5 host=a\nm 1699999200 -3 host=b,c dc=x\n"
      "n 1699999200 9223372036854775807 host=a\nm 1700009200 1 host=a\n");
  const std::string exported =
      program.Run({"export", "1699999200", "1699999201", "sum", "m", "sum", "n"}).out;
  CHECK(exported ==
        "metric,time,value,dc,host\n"
        "m,1699999200,1,,a\n"
        "m,1699999201500,0.5,,a\n"
        "m,1699999200,-3,x,\"b,c\"\n"
        "n,1699999200,9223372036854775807,,a\n");
  const ModelProgram other("tsd.core.tag.allow_specialchars = ,\n");
  CHECK(other.Run({"import", "--csv", "--", "-"}, exported).exit == 0);
  CHECK(other.Run({"export", "1699999200", "sum", "m", "sum", "n"}).out == exported);
  CHECK(ModelProgram().Run({"export", "1699999200", "sum", "nosuch"}).exit == 1);
  CHECK(ModelProgram().Run({"export", "1699999200"}).exit == 2);
}

/// Returns a watch that creates the series core=0 of the metric and its point at 1699995600, when
/// the row of 1699999200 is read for the first time. Then the watch sets *created.
RowWatch CreateSeriesAtRow(bool* created) {
  return [created](Store& store, const Row& row) {
    if (row.key.find("\x65\x53\xed\xe0") == Bytes::npos || std::exchange(*created, true)) return;
    // The new series sorts before the known one, so only the second scan finds it.
    const Bytes id("\0\0\2", 3);
    for (const auto& [kind, text] : {std::pair{"tagk", "core"}, {"tagv", "0"}})
      REQUIRE(store.Mutate("tsdb-uid", {{id, {PutCell("name", kind, text)}}}).ok());
    const Bytes key = row.key.substr(0, 3) + Bytes("\x65\x53\xdf\xd0", 4) + id + id;
    REQUIRE(store.Mutate("tsdb", {{key, {PutCell("t", Bytes("\0\0", 2), "\7")}}}).ok());
  };
}

TEST_CASE("export leaves out a series with a tag key that was created after its first row") {
  RowWatch watch;
  const WatchedProgram program(watch);
  program.Import("m 1699999200 1 host=a\n");
  bool created = false;
  watch = CreateSeriesAtRow(&created);
  const Outcome outcome = program.Run({"export", "1699990000", "sum", "m"});
  watch = nullptr;
  CHECK(created);
  CHECK(outcome.exit == 0);
  CHECK(outcome.out == "metric,time,value,host\nm,1699999200,1,a\n");
  CHECK(outcome.err.find("core") != std::string::npos);
  CHECK(program.OutputOf({"export", "1699990000", "sum", "m"}) ==
        "metric,time,value,core,host\nm,1699995600,7,0,\nm,1699999200,1,,a\n");
}

TEST_CASE("an export reports no new series that has no points in its time range") {
  RowWatch watch;
  const WatchedProgram program(watch);
  program.Import("m 1699999200 1 host=a\n");
  bool created = false;
  watch = CreateSeriesAtRow(&created);
  const Outcome outcome = program.Run({"export", "1699995601", "sum", "m"});
  watch = nullptr;
  CHECK(created);
  CHECK(outcome.out == "metric,time,value,host\nm,1699999200,1,a\n");
  CHECK(outcome.err.find("core") == std::string::npos);
}

TEST_CASE(
    "tag keys that are also names of columns are exported with a prefix, and imported again") {
  const char* const settings = "tsd.core.tag.allow_specialchars = :\n";
  const ModelProgram program(settings), other(settings);
  program.Import("m 1699999200 1 metric=a time=b value=c tag:time=d\n");
  const std::string exported = program.Run({"export", "1699999200", "sum", "m"}).out;
  CHECK(exported ==
        "metric,time,value,tag:metric,tag:tag:time,tag:time,tag:value\n"
        "m,1699999200,1,a,d,b,c\n");
  CHECK(other.Run({"import", "--csv", "--", "-"}, exported).exit == 0);
  CHECK(other.Run({"export", "1699999200", "sum", "m"}).out == exported);
}

TEST_CASE("the names in a line with an invalid value get ids") {
  const ModelProgram program;
  CHECK(program.Run({"import", "--", "-"}, "m 1699999200 x host=a\n").exit == 1);
  CHECK(program.Run({"uid", "m"}).out == "metrics m: [0, 0, 1]\n");
}

TEST_CASE("a time out of range is refused for new and for known series") {
  const ModelProgram program;
  const std::string good = "m 1699999200 1 host=a\n";
  CHECK(program.Run({"import", "--", "-"}, good + "m 10000000000000 2 host=a\n").exit == 1);
  CHECK(program.Run({"import", "--", "-"}, "n 10000000000000 2 host=a\n").exit == 1);
  CHECK(program.Scan({"1", "sum", "m"}) == good);
  CHECK(program.Scan({"1", "sum", "n"}).empty());
}

TEST_CASE("new metrics need the setting or --auto-metric") {
  const ModelProgram program("tsd.core.auto_create_metrics = false\n");
  const std::string line = "m 1699999200 1 host=a\n";
  CHECK(program.Run({"import", "--", "-"}, line).exit == 1);
  CHECK(program.Run({"import", "--auto-metric", "--", "-"}, line).exit == 0);
}

TEST_CASE("files ending in .gz are decompressed, and a damaged one fails") {
  const ModelProgram program;
  const std::string line = "m 1699999200 1 host=a\n";
  gzFile file = gzopen(program.Path("points.gz").c_str(), "wb");
  gzwrite(file, line.data(), static_cast<unsigned>(line.size()));
  gzclose(file);
  CHECK(program.Run({"import", program.Path("points.gz")}).exit == 0);
  CHECK(program.Scan({"1699999200", "sum", "m"}) == line);
  std::filesystem::resize_file(program.Path("points.gz"),
                               std::filesystem::file_size(program.Path("points.gz")) - 6);
  CHECK(program.Run({"import", program.Path("points.gz")}).exit == 1);
  for (const char* plain : {"", "m 1699999201 1 host=a\n"}) {
    std::ofstream(program.Path("plain.gz")) << plain;
    CHECK(program.Run({"import", program.Path("plain.gz")}).exit == 1);
  }
  CHECK(program.Scan({"1699999200", "sum", "m"}) == line);
}

TEST_CASE("import without a path is wrong usage, and a missing path fails") {
  const ModelProgram program;
  CHECK(program.Run({"import"}).exit == 2);
  CHECK(program.Run({"import", "-"}).exit == 2);
  CHECK(program.Run({"import", program.Path("nosuch")}).exit == 1);
}

}  // namespace
}  // namespace hg::tsd
