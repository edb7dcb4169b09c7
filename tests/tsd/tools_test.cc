// The commands from outside: words in, standard output and exit status out, over the model store.

#include <doctest/doctest.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <memory>
#include <sstream>
#include <utility>

#include "storage/base/bytes.h"
#include "tests/support/model_backend.h"
#include "tests/support/tool_program.h"
#include "tsd/counted_store.h"
#include "tsd/known_settings.h"
#include "tsd/tables.h"

namespace hg::tsd {
namespace {

class Program : public ToolProgram {
 public:
  explicit Program(const std::string& settings = "") : ToolProgram(OpenModelBackend, settings) {}
};

/// Takes one new name, then is full until it is flushed.
class FullStore : public CountedStore {
 public:
  using CountedStore::CountedStore;

  Result<int64_t> Increment(const std::string& table, ByteView key, ByteView family,
                            ByteView qualifier, int64_t by) override {
    if (std::exchange(full_, true)) return Status::Busy("no new series for now");
    return CountedStore::Increment(table, key, family, qualifier, by);
  }
  Status Flush() override {
    full_ = false;
    return CountedStore::Flush();
  }

 private:
  bool full_ = false;
};

Result<std::unique_ptr<Backend>> OpenFullStore(const Config& config, const std::string& /*words*/,
                                               StoreUse /*use*/) {
  return OpenModelBackendThrough(config, [&](Store& model) -> Result<std::shared_ptr<Store>> {
    RETURN_IF_ERROR(EnsureTables(config, model));
    return std::shared_ptr<Store>(std::make_shared<FullStore>(model));
  });
}

TEST_CASE("an unknown command fails, an unknown option is misuse, help is neither") {
  const Program program;
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
  const Outcome outcome = Program().Run({"version"});
  CHECK(outcome.exit == 0);
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 2);
}

TEST_CASE("settings prints the table of them and opens no store") {
  const Outcome outcome = Program().Run({"settings"});
  CHECK(outcome.exit == 0);
  CHECK(outcome.out == SettingsTable());
  CHECK(outcome.out.find("\n| `tsd.network.port` | `4242` | ") != std::string::npos);
}

TEST_CASE("what was loaded is dumped as it was, in order of row, family, qualifier") {
  const Program program;
  const std::string point = "0000016553ede0000001000001\tt\t0010\t2a\n";
  const std::string note = "0000016553ede0000001000001\tt\t010000\t7b7d\n";
  const std::string wide = "0000016553ede0000001000002\tt\t00000010\t010200\n";
  CHECK(program.Run({"load"}, "tsdb\t" + wide + "tsdb\t" + note + "tsdb\t" + point).exit == 0);
  CHECK(program.Run({"dump", "tsdb"}).out == point + note + wide);
  CHECK(program.Run({"dump", "tsdb-uid"}).out.empty());
}

TEST_CASE("load refuses a database that is not empty") {
  const Program program;
  program.Import("m 1699999200 1 host=a\n");
  const Outcome outcome = program.Run({"load"}, "tsdb\t00\tt\t0010\t2a\n");
  CHECK(outcome.exit == 1);
  CHECK(outcome.err.find("not empty") != std::string::npos);
}

TEST_CASE("load names the line that it cannot read") {
  for (const char* bad :
       {"tsdb\t00\tt\t0010\n", "tsdb\t00\tt\t0010\t2a\t00\n", "tsdb\t0g\tt\t0010\t2a\n"}) {
    const Outcome outcome = Program().Run({"load"}, "tsdb\t00\tt\t0000\t01\n" + std::string(bad));
    CHECK(outcome.exit == 1);
    CHECK(outcome.err.find("line 2") != std::string::npos);
  }
}

TEST_CASE("dump of an unknown table fails, without a table it is misused") {
  CHECK(Program().Run({"dump", "nosuch"}).exit == 1);
  CHECK(Program().Run({"dump"}).exit == 2);
}

TEST_CASE("imported points are scanned as lines that import takes") {
  const Program program;
  const std::string lines =
      "m 1699999200 1 host=a\n"
      "m 1699999201 300 host=a\n"
      "m 1699999202500 1.5 host=a\n"
      "m 1699999200 -7 host=b core=1\n";
  program.Import(lines);
  CHECK(program.Scan({"1699999200", "1699999300", "sum", "m"}) == lines);
}

TEST_CASE("an import waits where there is no room for new names, as for points") {
  const ToolProgram program(OpenFullStore, "");
  const std::string lines = "m 1699999200 1 host=a\nm 1699999200 2 host=b\n";
  const Outcome outcome = program.Run({"import", "--", "-"}, lines);
  CAPTURE(outcome.err);
  CHECK(outcome.exit == 0);
  CHECK(program.Scan({"1699999000", "1699999900", "sum", "m"}) == lines);
}

TEST_CASE("import stores whole numbers shortest and other numbers as singles") {
  const Program program("tsd.storage.enable_compaction = false\n");
  program.Import("m 1699999200 300 h=a\nm 1699999201 0.1 h=a\n");
  const Outcome dump = program.Run({"dump", "tsdb"});
  CHECK(dump.out ==
        "0000016553ede0000001000001\tt\t0001\t012c\n"
        "0000016553ede0000001000001\tt\t001b\t3dcccccd\n");
}

TEST_CASE("a bad line ends the import, what precedes it is stored") {
  const Program program;
  const std::string good = "m 1699999200 1 host=a\n";
  for (const char* bad :
       {"", "m", "m 1699999201", "m 1699999201 1", "m 1699999201 1 host", "m 1699999201 1 host=",
        "m 1699999201 1 host=a host=b", "m  1699999201 1 host=a", "m 1699999201  1 host=a",
        "m 0 1 host=a", "m -5 1 host=a", "m 1699999201.5 1 host=a", "m 1699999201 NaN host=a",
        "m 1699999201 1e400 host=a", "m*n 1699999201 1 host=a", "m 1699999200 1 host=a"}) {
    const Program one;
    const Outcome outcome =
        one.Run({"import", "--", "-"}, good + bad + "\nm 1699999202 2 host=a\n");
    CAPTURE(bad);
    CHECK(outcome.exit == 1);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find("-:2") != std::string::npos);
    CHECK(one.Scan({"1699999200", "sum", "m"}) == good);
  }
}

TEST_CASE("with --skip-errors bad lines are passed over") {
  const Program program;
  const std::string lines = "m 1699999200 1 host=a\nbad\nm 1699999202 2 host=a\n";
  CHECK(program.Run({"import", "--skip-errors", "--", "-"}, lines).exit == 0);
  CHECK(program.Scan({"1699999200", "sum", "m"}) ==
        "m 1699999200 1 host=a\nm 1699999202 2 host=a\n");
}

TEST_CASE("a line that ends with its time ends the import, --skip-errors or not") {
  const Program program;
  const std::string good = "m 1699999200 1 host=a\n";
  const Outcome outcome =
      program.Run({"import", "--skip-errors", "--", "-"},
                  good + "m 1699999201 \nm\nm 1699999201\nm 1699999202 2 host=a\n");
  CHECK(outcome.exit == 1);
  CHECK(outcome.err.find("-:4") != std::string::npos);
  CHECK(program.Scan({"1699999200", "sum", "m"}) == good);
}

TEST_CASE("time ascends per series, however its tags are spelled") {
  const Program program;
  const std::string lines = "m 1699999200 1 a=1 b=2\nm 1699999200 2 a=1\nm 1699999200 3 b=2  a=1\n";
  const Outcome outcome = program.Run({"import", "--", "-"}, lines);
  CHECK(outcome.exit == 1);
  CHECK(outcome.err.find("-:3") != std::string::npos);
}

TEST_CASE("a setting lets time go back") {
  const Program program("tsd.core.bulk.allow_out_of_order_timestamps = true\n");
  program.Import("m 1699999201 1 host=a\nm 1699999200 2 host=a\n");
  CHECK(program.Scan({"1699999200", "sum", "m"}) ==
        "m 1699999200 2 host=a\nm 1699999201 1 host=a\n");
}

TEST_CASE("rows of comma-separated values are imported by the names of their columns") {
  const Program program;
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

TEST_CASE("a row that is not right is named by its line, and passed over if that is wanted") {
  const std::string head = "metric,time,value,host\nm,1699999200,1,a\n";
  const struct {
    const char* row;
    const char* why;
  } cases[] = {
      {"m,1699999201,1", "the row has 3 cells, the first row has 4"},
      {"m,1699999201,x,a", "invalid value"},
      {"m,1699999201,,a", "invalid value"},
      {"m,1699999201.5,1,a", "invalid time"},
      {"m,0,1,a", "invalid time: 0"},
      {",1699999201,1,a", "the row has no metric"},
      {"m,1699999201,1,", "Need at least one tag"},
      {"m,1699999201,1,a b", "illegal character"},
      {"m,1699999201,1,\"a\"b", "a quote within a cell"},
      {"m,1699999201,1,a\"b", "a quote within a cell"},
      {"m,1699999200,1,a", "is not after the series' previous point"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.row);
    const Program program;
    const std::string rows = head + c.row + "\nm,1699999209,2,a\n";
    const Outcome outcome = program.Run({"import", "--csv", "--", "-"}, rows);
    CHECK(outcome.exit == 1);
    CHECK(outcome.err.find("-:3: ") != std::string::npos);
    CHECK(outcome.err.find(c.why) != std::string::npos);
    CHECK(program.Scan({"1699999200", "sum", "m"}) == "m 1699999200 1 host=a\n");
    const Program skipping;
    CHECK(skipping.Run({"import", "--csv", "--skip-errors", "--", "-"}, rows).exit == 0);
    CHECK(skipping.Scan({"1699999200", "sum", "m"}) ==
          "m 1699999200 1 host=a\nm 1699999209 2 host=a\n");
  }
  const Outcome open =
      Program().Run({"import", "--csv", "--", "-"}, head + "m,1699999201,1,\"a\nb\n");
  CHECK(open.err.find("-:3: a cell in quotes does not end") != std::string::npos);
}

TEST_CASE("a first row that does not name the columns is refused") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "there is no first row"},
      {"metric,value,host\n", "names no column \"time\""},
      {"metric,time,value,host,host\n", "the column \"host\" stands twice"},
      {"metric,time,value,\n", "column 4 has no name"},
      {"metric,time,value,tag:\n", "column 4 has no name"},
      {"metric,time,value,time\n", "the column \"time\" stands twice"},
      {"metric,time,value,host,tag:host\n", "the column \"host\" stands twice"},
  };
  for (const auto& [rows, why] : cases) {
    const Outcome outcome = Program().Run({"import", "--csv", "--skip-errors", "--", "-"}, rows);
    CHECK(outcome.exit == 1);
    CHECK(outcome.err.find(why) != std::string::npos);
  }
}

TEST_CASE("what is exported is imported again as it was") {
  const Program program("tsd.core.tag.allow_specialchars = ,\n");
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
  const Program other("tsd.core.tag.allow_specialchars = ,\n");
  CHECK(other.Run({"import", "--csv", "--", "-"}, exported).exit == 0);
  CHECK(other.Run({"export", "1699999200", "sum", "m", "sum", "n"}).out == exported);
  CHECK(Program().Run({"export", "1699999200", "sum", "nosuch"}).exit == 1);
  CHECK(Program().Run({"export", "1699999200"}).exit == 2);
}

TEST_CASE("tag keys that are names of columns are exported behind a mark, and imported again") {
  const char* const settings = "tsd.core.tag.allow_specialchars = :\n";
  const Program program(settings), other(settings);
  program.Import("m 1699999200 1 metric=a time=b value=c tag:time=d\n");
  const std::string exported = program.Run({"export", "1699999200", "sum", "m"}).out;
  CHECK(exported ==
        "metric,time,value,tag:metric,tag:tag:time,tag:time,tag:value\n"
        "m,1699999200,1,a,d,b,c\n");
  CHECK(other.Run({"import", "--csv", "--", "-"}, exported).exit == 0);
  CHECK(other.Run({"export", "1699999200", "sum", "m"}).out == exported);
}

TEST_CASE("a line with a bad value leaves its ids behind") {
  const Program program;
  CHECK(program.Run({"import", "--", "-"}, "m 1699999200 x host=a\n").exit == 1);
  CHECK(program.Run({"uid", "m"}).out == "metrics m: [0, 0, 1]\n");
}

TEST_CASE("a time beyond the range is refused of new and of known series, and leaves ids behind") {
  const Program program;
  const std::string good = "m 1699999200 1 host=a\n";
  CHECK(program.Run({"import", "--", "-"}, good + "m 10000000000000 2 host=a\n").exit == 1);
  CHECK(program.Run({"import", "--", "-"}, "n 10000000000000 2 host=a\n").exit == 1);
  CHECK(program.Scan({"1", "sum", "m"}) == good);
  CHECK(program.Scan({"1", "sum", "n"}).empty());
}

TEST_CASE("new metrics need the setting or --auto-metric") {
  const Program program("tsd.core.auto_create_metrics = false\n");
  const std::string line = "m 1699999200 1 host=a\n";
  CHECK(program.Run({"import", "--", "-"}, line).exit == 1);
  CHECK(program.Run({"import", "--auto-metric", "--", "-"}, line).exit == 0);
}

TEST_CASE("files ending in .gz are unpacked, a damaged one fails") {
  const Program program;
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

TEST_CASE("import without a path is misused, a path that is not there fails") {
  const Program program;
  CHECK(program.Run({"import"}).exit == 2);
  CHECK(program.Run({"import", "-"}).exit == 2);
  CHECK(program.Run({"import", program.Path("nosuch")}).exit == 1);
}

TEST_CASE("names are assigned, looked up, found by expression, renamed and deleted") {
  const Program program;
  CHECK(program.Run({"mkmetric", "one", "two"}).out ==
        "metrics one: [0, 0, 1]\nmetrics two: [0, 0, 2]\n");
  CHECK(program.Run({"uid", "assign", "tagv", "one"}).out == "tagv one: [0, 0, 1]\n");
  CHECK(program.Run({"uid", "one"}).out == "metrics one: [0, 0, 1]\ntagv one: [0, 0, 1]\n");
  for (const char* id : {"2", "002", "+2"})
    CHECK(program.Run({"uid", id}).out == "metrics two: [0, 0, 2]\n");
  CHECK(program.Run({"uid", "grep", "-i", "^O"}).out ==
        "metrics one: [0, 0, 1]\ntagv one: [0, 0, 1]\n");
  CHECK(program.Run({"uid", "rename", "metrics", "two", "three"}).out == "metrics two -> three\n");
  CHECK(program.Run({"uid", "rename", "metrics", "one", "three"}).exit == 1);
  CHECK(program.Run({"uid", "delete", "metrics", "three"}).exit == 0);
  CHECK(program.Run({"uid", "delete", "metrics", "three"}).exit == 1);
  CHECK(program.Run({"uid", "metrics", "three"}).exit == 1);
}

TEST_CASE("uid tells misuse, bad numbers and bad expressions apart") {
  const Program program;
  CHECK(program.Run({"uid"}).exit == 2);
  CHECK(program.Run({"uid", "assign", "metrics"}).exit == 2);
  CHECK(program.Run({"uid", "assign", "nokind", "x"}).exit == 1);
  CHECK(program.Run({"uid", "delete", "nokind", "x"}).exit == 4);
  CHECK(program.Run({"uid", "--idwidth=0", "1"}).exit == 3);
  CHECK(program.Run({"uid", "--idwidth=x", "1"}).exit == 1);
  CHECK(program.Run({"uid", "grep", "("}).exit == 3);
}

/// Loads cells of tsdb-uid, one "ROW FAMILY QUALIFIER VALUE" each, rows and values in hexadecimal.
void LoadUids(const Program& program, const std::vector<std::array<std::string, 4>>& cells) {
  std::string lines;
  for (const auto& [row, family, qualifier, value] : cells)
    lines += "tsdb-uid\t" + row + "\t" + family + "\t" + ToHex(qualifier) + "\t" + value + "\n";
  REQUIRE(program.Run({"load"}, lines).exit == 0);
}

TEST_CASE(
    "uid fsck counts a missing reverse mapping and a counter that is behind, and repairs both") {
  const Program program;
  LoadUids(program,
           {{"00", "id", "metrics", "0000000000000001"}, {"6d", "id", "metrics", "000002"}});
  CHECK(program.Run({"uid", "fsck"}).exit == 2);
  CHECK(program.Run({"uid", "fsck"}).exit == 2);
  CHECK(program.Run({"uid", "fsck", "fix"}).exit == 2);
  CHECK(program.Run({"uid", "fsck"}).exit == 0);
  CHECK(program.Run({"uid", "2"}).out == "metrics m: [0, 0, 2]\n");
  CHECK(program.Run({"mkmetric", "n"}).out == "metrics n: [0, 0, 3]\n");
}

TEST_CASE(
    "uid fsck joins two names of one id under a third, and drops a reverse mapping without a "
    "name") {
  const Program program;
  LoadUids(program, {{"00", "id", "tagv", "0000000000000002"},
                     {"000001", "name", "tagv", "61"},
                     {"000002", "name", "tagv", "63"},
                     {"61", "id", "tagv", "000001"},
                     {"62", "id", "tagv", "000001"}});
  CHECK(program.Run({"uid", "fsck", "fix"}).exit == 2);
  CHECK(program.Run({"uid", "1"}).out == "tagv fsck.a.b: [0, 0, 1]\n");
  CHECK(program.Run({"uid", "2"}).exit == 1);
  CHECK(program.Run({"uid", "fsck"}).exit == 0);
}

TEST_CASE("uid fsck lets a counter above the number of entries pass, and repairs no damaged one") {
  const Program behind;
  LoadUids(behind, {{"00", "id", "metrics", "0000000000000002"},
                    {"6d", "id", "metrics", "000003"},
                    {"000003", "name", "metrics", "6d"}});
  CHECK(behind.Run({"uid", "fsck", "fix"}).exit == 0);
  CHECK(behind.Dump("tsdb-uid").find("0000000000000002") != std::string::npos);
  const Program damaged;
  LoadUids(damaged, {{"00", "id", "metrics", "ffff"},
                     {"6d", "id", "metrics", "000003"},
                     {"000003", "name", "metrics", "6d"}});
  for (const char* word : {"fix", "delete_unknown"})
    CHECK(damaged.Run({"uid", "fsck", word}).exit == 2);
  CHECK(damaged.Dump("tsdb-uid").find("\tffff\n") != std::string::npos);
}

TEST_CASE("uid fsck deletes unknown columns only when told to") {
  const Program program;
  LoadUids(program, {{"000001", "name", "strange_meta", "78"}});
  CHECK(program.Run({"uid", "fsck", "fix"}).exit == 0);
  CHECK_FALSE(program.Run({"dump", "tsdb-uid"}).out.empty());
  CHECK(program.Run({"uid", "fsck", "fix", "delete_unknown"}).exit == 0);
  CHECK(program.Run({"dump", "tsdb-uid"}).out.empty());
  CHECK(program.Run({"uid", "fsck", "nosuch"}).exit == 2);
}

TEST_CASE("metasync describes series that have points, metapurge takes the descriptions away") {
  const Program program;
  program.Import("m 1699999200 1 host=a\n");
  const std::string before = program.Run({"dump", "tsdb-uid"}).out;
  CHECK(program.Run({"uid", "metasync"}).exit == 0);
  const std::string described = program.Run({"dump", "tsdb-uid"}).out;
  CHECK(described.find(ToHex("metric_meta")) != std::string::npos);
  CHECK(described.find(ToHex("\"created\":1699999200")) != std::string::npos);
  const std::string series = program.Run({"dump", "tsdb-meta"}).out;
  CHECK(series.find("000001000001000001\tname\t" + ToHex("ts_ctr") + "\t0000000000000001") == 0);
  CHECK(program.Run({"uid", "metasync"}).exit == 0);
  CHECK(program.Run({"dump", "tsdb-meta"}).out == series);
  CHECK(program.Run({"uid", "metapurge"}).exit == 0);
  CHECK(program.Run({"dump", "tsdb-uid"}).out == before);
  CHECK(program.Run({"dump", "tsdb-meta"}).out.empty());
}

TEST_CASE("metasync corrects what is stored of series and ids, and keeps what people said") {
  const auto object = [](const std::string& text) { return ToHex(text) + "\n"; };
  const std::string row = "tsdb-meta\t000001000001000001\tname\t";
  const std::string said =
      "\"displayName\":\"Mine\",\"description\":\"\",\"notes\":\"\",\"created\":";
  const std::string rest =
      ",\"custom\":null,\"units\":\"\",\"dataType\":\"\",\"retention\":0,\"max\":\"NaN\",\"min\":"
      "\"NaN\"}";
  const auto load = [&](const std::string& created) {
    return "tsdb\t0000016553ede0000001000001\tt\t0010\t2a\n"
           "tsdb\t0000026553d1c0000001000001\tt\t0010\t2a\n"
           "tsdb-uid\t000001\tname\t6d657472696373\t6d\n"
           "tsdb-uid\t000002\tname\t6d657472696373\t6e\n"
           "tsdb-uid\t000001\tname\t7461676b\t68\n"
           "tsdb-uid\t000001\tname\t74616776\t61\n"
           "tsdb-uid\t000001\tname\t" +
           ToHex("tagv_meta") + "\t" +
           object("{\"type\":\"TAGV\"," + said + created + ",\"custom\":null}") + row +
           ToHex("ts_meta") + "\t" +
           object("{\"tsuid\":\"000001000001000001\"," + said + created + rest) +
           "tsdb-meta\t000002000001000001\tname\t" + ToHex("ts_meta") + "\t" + object("damage");
  };
  // Base of m's row: 1699999200; of n's, which has the same tag: two hours before.
  for (const auto& [stored, series, id] : {std::array{"0", "1699999200", "1699992000"},
                                           std::array{"1700010000", "1699999200", "1699992000"},
                                           std::array{"1699999900", "1699999900", "1699992000"},
                                           std::array{"1699992100", "1699992100", "1699992100"}}) {
    CAPTURE(stored);
    const Program one;
    REQUIRE(one.Run({"load"}, load(stored)).exit == 0);
    CHECK(one.Run({"uid", "metasync"}).exit == 0);
    CHECK(one.Dump("tsdb-uid").find(ToHex("{\"type\":\"TAGV\"," + said + id + ",")) !=
          std::string::npos);
    const std::string meta = one.Dump("tsdb-meta");
    CHECK(meta.find(ToHex("{\"tsuid\":\"000001000001000001\"," + said + series + rest)) !=
          std::string::npos);
    CHECK(meta.find(ToHex("damage")) == std::string::npos);
    CHECK(meta.find(ToHex("{\"tsuid\":\"000002000001000001\"")) != std::string::npos);
  }
}

TEST_CASE("treepurge empties a tree, and with true forgets it") {
  const Program program;
  const std::string definition = "0001\tt\t" + ToHex("tree") + "\t7b7d\n";
  const std::string rule = "0001\tt\t" + ToHex("tree_rule:0:0") + "\t7b7d\n";
  const std::string branch = "0001\tt\t" + ToHex("branch") + "\t7b7d\n";
  const std::string leaf = "000106bc4c55\tt\t" + ToHex("branch") + "\t7b7d\n";
  const std::string other = "0002\tt\t" + ToHex("branch") + "\t7b7d\n";
  std::string lines;
  for (const std::string& line : {branch, definition, rule, leaf, other})
    lines += "tsdb-tree\t" + line;
  REQUIRE(program.Run({"load"}, lines).exit == 0);
  CHECK(program.Run({"uid", "treepurge"}).exit == 2);
  for (const char* id : {"x", "0", "65536"}) CHECK(program.Run({"uid", "treepurge", id}).exit == 3);
  CHECK(program.Run({"uid", "treepurge", "9"}).exit == 0);
  CHECK(program.Run({"uid", "treepurge", "1"}).exit == 0);
  CHECK(program.Run({"dump", "tsdb-tree"}).out == definition + rule + other);
  CHECK(program.Run({"uid", "treepurge", "1", "true"}).exit == 0);
  CHECK(program.Run({"dump", "tsdb-tree"}).out == other);
}

TEST_CASE("scan prints rows raw: points, compacted cells, annotations and what it does not know") {
  const Program program;
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

TEST_CASE("scan shows a millisecond point of another width than its flags say as it stands") {
  const Program program;
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
  CHECK(import.exit == 1);  // at the empty one
  CHECK(import.out == "m 1699999216000 0.0\n");
}

TEST_CASE("search lookup is silent, and fails on names that nobody has") {
  const Program program;
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

TEST_CASE("scan ends at a key that is cut short inside of its time, and names it") {
  const Program cut;
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

TEST_CASE("scan prints rows without tags, and of tags without names what OpenTSDB says") {
  const Program program;
  REQUIRE(program
              .Run({"load"},
                   "tsdb\t0000016553ede0\tt\t0010\t18\n"
                   "tsdb-uid\t000001\tname\t6d657472696373\t6d\n"
                   "tsdb-uid\t6d\tid\t6d657472696373\t000001\n")
              .exit == 0);
  CHECK(program.Run({"scan", "1699999200", "sum", "m"}).out.find(" 2023) {}\n  [0, 16]\t[24]\t") !=
        std::string::npos);
  CHECK(program.Scan({"1699999200", "sum", "m"}) == "m 1699999201 24\n");
  const Program orphan;
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

TEST_CASE("scan --delete prints the rows and takes them away") {
  const Program program;
  program.Import("m 1699999200 1 host=a\nm 1699999200 2 host=b\n");
  CHECK(program.Run({"scan", "--delete", "1699999200", "sum", "m", "host=a"}).out ==
        "m 1699999200 1 host=a\n");
  CHECK(program.Scan({"1699999200", "sum", "m"}) == "m 1699999200 2 host=b\n");
}

TEST_CASE("scan refuses a pattern that it would have to take for any value") {
  const Program program;
  program.Import("m 1699999200 1 host=a\n");
  CHECK(program.Run({"scan", "--delete", "1699999200", "sum", "m", "host=b*"}).exit == 1);
  CHECK(program.Scan({"1699999200", "sum", "m"}) == "m 1699999200 1 host=a\n");
}

TEST_CASE("queries need three words, an aggregator, a time and known names") {
  const Program program;
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

TEST_CASE("query prints time in milliseconds, value and the group's tags") {
  const Program program;
  program.Import("m 1699999200 1 host=a\nm 1699999201 2 host=a\nm 1699999202 2.5 host=a\n");
  CHECK(program.Run({"query", "1699999200", "1699999300", "sum", "m"}).out ==
        "m 1699999200000 1 {host=a}\n"
        "m 1699999201000 2.000000 {host=a}\n"
        "m 1699999202000 2.500000 {host=a}\n");
}

TEST_CASE("query prints what precedes an infinity before it fails") {
  const Program source, program;
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

TEST_CASE("a time beyond 2^32 seconds is taken for milliseconds, so nothing is before it") {
  const Program program;
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

TEST_CASE("query --graph writes numbers, a script and a picture instead of lines") {
  const Program program;
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
