// `tsdb table` on a data directory of its own.

#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <utility>

#include "tests/tsd/tools/model_program.h"
#include "tsd/embedded_backend.h"

namespace hg::tsd {
namespace {

class TableProgram : public ToolProgram {
 public:
  explicit TableProgram(const std::string& settings = "")
      : ToolProgram(OpenEmbeddedBackend, settings) {}

  std::string Table(std::vector<std::string> words) const {
    words.insert(words.begin(), "table");
    return OutputOf(std::move(words));
  }
  [[nodiscard]] std::string Refusal(std::vector<std::string> words, int exit = 1) const {
    words.insert(words.begin(), "table");
    const Outcome outcome = Run(std::move(words));
    CHECK(outcome.exit == exit);
    CHECK(outcome.out.empty());
    return outcome.err;
  }
  [[nodiscard]] bool Describes(const std::string& table, const std::string& words) const {
    const std::string text = Table({"describe", table});
    INFO(text);
    return text.find(words) != std::string::npos;
  }
};

bool Has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

TEST_CASE("tables are listed, with their families and regions") {
  const TableProgram program("tsd.storage.salt.width = 1\ntsd.storage.salt.buckets = 3\n");
  const std::string tables = program.Table({"list"});
  CHECK(Has(tables, R"({"table":"tsdb","families":["t"],"points":true,"regions":3})"));
  CHECK(Has(tables, R"({"table":"tsdb-uid","families":["id","name"],"points":false,"regions":1})"));
  CHECK(program.Starts("tsdb") == R"(|\\x01|\\x02|)");
}

TEST_CASE("braces as in HBase's shell describe families") {
  const TableProgram program;
  program.Table({"create", "t5", "{NAME=>f1,TTL=>180}"});
  CHECK(Has(program.Table({"list"}), R"({"table":"t5","families":["f1"],)"));
  CHECK(program.Describes("t5", R"({"NAME":"f1","VERSIONS":"1","MIN_VERSIONS":"0","TTL":"180",)"));
  program.Table({"create", "t6", "{NAME => 'a', VERSIONS => 2}", "b", "SPLITS => ['g', 'n']"});
  CHECK(Has(program.Table({"list"}), R"({"table":"t6","families":["a","b"],)"));
  CHECK(program.Starts("t6") == "|g|n|");
}

TEST_CASE("options after --family are attributes of that family") {
  const TableProgram program;
  program.Table({"create", "t1", "--family", "f1", "--ttl=3d", "--versions", "3", "--family=f2",
                 "--compression", "zstd", "--keep-deleted-cells", "true"});
  CHECK(program.Describes("t1",
                          "NAME => 'f1', VERSIONS => '3', MIN_VERSIONS => '0', TTL => "
                          "'259200', KEEP_DELETED_CELLS => 'false'"));
  CHECK(program.Describes("t1", R"({"NAME":"f2","VERSIONS":"1","MIN_VERSIONS":"0","TTL":"FOREVER",)"
                                R"("KEEP_DELETED_CELLS":"true")"));
  CHECK(program.Describes("t1", R"("COMPRESSION":"ZSTD")"));
  CHECK(Has(program.Refusal({"create", "t", "--ttl", "3d"}, 2), "--ttl 3d needs a --family"));
}

TEST_CASE("a table is created with regions: by keys, by a file of keys, or by equal shares") {
  const TableProgram program;
  program.Table({"create", "a", "f", "--splits", R"(m,\x00,b\\)"});
  CHECK(program.Starts("a") == R"(|\\x00|b\\\\|m|)");
  program.Write("keys", "x,y\r\n\\x7f\r\n\r\n");
  program.Table({"create", "b", "f", "g", "--splits-file", program.Path("keys")});
  CHECK(program.Starts("b") == R"(|x,y|\\x7F|)");
  program.Table({"create", "c", "f", "--uniform", "2"});
  CHECK(program.Starts("c") == R"(|\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00|)");
  program.Table({"create", "d", "f", "--hex=3"});
  CHECK(program.Starts("d") == "|55555555|aaaaaaaa|");
  for (const char* bad : {"", "m,,n", "m,m", R"(\y)"})
    CHECK(!program.Refusal({"create", "e", "f", std::string("--splits=") + bad}).empty());
  CHECK(Has(program.Refusal({"create", "e", "f", "--hex", "0"}), "0"));
  CHECK(!program.Refusal({"create", "e"}, 2).empty());
}

TEST_CASE("names that HBase forbids and attributes without support are refused with their value") {
  const TableProgram program;
  CHECK(Has(program.Refusal({"create", "a b", "f"}), "'a b'"));
  CHECK(Has(program.Refusal({"create", "-x", "f"}, 2), "-x"));
  for (const char* family : {"a:b", "a/b", ".a", "recovered.edits"})
    CHECK(Has(program.Refusal({"create", "t", "--family", family}), std::string("'") + family));
  CHECK(Has(program.Refusal({"create", "t", "--family=f", "--bloomfilter=ROWCOL"}),
            "BLOOMFILTER 'ROWCOL'"));
  CHECK(Has(program.Refusal({"create", "t", "{NAME => 'f', REPLICATION_SCOPE => 1}"}),
            "REPLICATION_SCOPE '1'"));
  CHECK(Has(program.Refusal({"create", "tsdb", "f"}), "tsdb"));
  CHECK(Has(program.Refusal({"nosuch"}, 2), "nosuch"));
  CHECK(Has(program.Refusal({"describe", "none"}), "none"));
  CHECK(Has(program.Refusal({"list", "--url", "http://127.0.0.1:1"}), "127.0.0.1:1"));
}

TEST_CASE("a table is altered: attributes, new families, removed families") {
  const TableProgram program;
  program.Table({"create", "t", "--family=a", "--ttl=60", "--versions=2", "--family=b"});
  program.Table({"alter", "t", "--family=a", "--ttl", "7d", "--family=c"});
  CHECK(program.Describes("t", R"({"NAME":"a","VERSIONS":"2","MIN_VERSIONS":"0","TTL":"604800",)"));
  CHECK(Has(program.Table({"list"}), R"({"table":"t","families":["a","b","c"],)"));
  CHECK(Has(program.Refusal({"alter", "t", "--delete-family", "b"}), "--yes"));
  CHECK(Has(program.Refusal({"alter", "t", "{NAME => b, METHOD => delete}"}), "--yes"));
  program.Table({"alter", "t", "--delete-family", "b", "--yes"});
  CHECK(Has(program.Table({"list"}), R"({"table":"t","families":["a","c"],)"));
  CHECK(Has(program.Refusal({"alter", "t", "--delete-family", "b", "--yes"}), "'b'"));
  CHECK(Has(program.Refusal({"alter", "t", "a", "--splits=x"}, 2), "--splits x"));
  CHECK(Has(program.Refusal({"alter", "t", "a, SPLITS => ['x']"}), "SPLITS 'x'"));
  CHECK(Has(program.Refusal({"alter", "none", "a"}), "none"));
}

TEST_CASE("truncate keeps a table that was split at a key longer than a key of --splits may be") {
  const TableProgram program;
  program.Table({"create", "t", "--family=f"});
  REQUIRE(program.Run({"admin", "split", "t", "--at", std::string(1100, 'k')}).exit == 0);
  program.Table({"truncate", "t", "--yes"});
  CHECK(program.Starts("t") == "|");
}

TEST_CASE("drop and truncate need --yes without a terminal; truncate keeps families and regions") {
  const TableProgram program;
  program.Load("tsdb-meta\t6b\tname\t71\t76\n");
  program.Table({"create", "t", "--family=f", "--ttl=9d", "--splits=m"});
  const std::string before = program.Table({"describe", "t"});
  CHECK(Has(program.Refusal({"drop", "t"}), "--yes"));
  CHECK(Has(program.Refusal({"truncate", "t"}), "--yes"));
  program.Table({"truncate", "t", "--yes"});
  CHECK(program.Table({"describe", "t"}) == before);
  program.Table({"drop", "t", "--yes"});
  CHECK(Has(program.Refusal({"describe", "t"}), "no such table"));
  CHECK(Has(program.Refusal({"drop", "t", "--yes"}), "no such table"));
  CHECK(!program.Dump("tsdb-meta").empty());
  program.Table({"truncate", "tsdb-meta", "--yes"});
  CHECK(program.Dump("tsdb-meta").empty());
}

TEST_CASE("the tables of points and names are never dropped or emptied") {
  const TableProgram program;
  program.Import("m 1699999200 1 host=a\n");
  for (const char* verb : {"drop", "truncate"}) {
    CHECK(Has(program.Refusal({verb, "tsdb", "--yes"}), "holds the points"));
    CHECK(Has(program.Refusal({verb, "default:tsdb-uid", "--yes"}), "names"));
  }
  program.Table({"alter", "tsdb", "--family=t", "--ttl=90d"});
  CHECK(program.Describes("tsdb", R"("TTL":"7776000")"));
}

TEST_CASE("a table of rollups can get a TTL, and keeps it when it is emptied") {
  const std::string intervals =
      R"({"intervals":[{"table":"r1h","preAggregationTable":"p1h","interval":"1h","rowSpan":"1d"},)"
      R"({"table":"tsdb","preAggregationTable":"tsdb","interval":"1m","rowSpan":"1h",)"
      R"("defaultInterval":true}],"aggregationIds":{"sum":0,"count":1,"min":2,"max":3}})";
  const TableProgram program("tsd.rollups.enable = true\ntsd.rollups.config = " + intervals + "\n");
  program.Load("r1h\t6b\tt\t71\t76\n");
  CHECK(!program.Dump("r1h").empty());
  program.Table({"alter", "r1h", "--family=t", "--ttl=400d"});
  CHECK(program.Describes("r1h", R"("TTL":"34560000")"));
  CHECK(!program.Dump("r1h").empty());
  program.Table({"truncate", "r1h", "--yes"});
  CHECK(program.Describes("r1h", R"("TTL":"34560000")"));
  CHECK(program.Dump("r1h").empty());
}

TEST_CASE(
    "each region of a table is shown with its share of the bytes, and a region with most "
    "bytes has a warning") {
  const TableProgram program;
  program.Table({"create", "t1", "--family=f", "--splits=g,n"});
  const std::string big(3000, 'x');
  for (const auto& [row, value] : {std::pair<std::string, std::string>("a", "x"), {"h", big}}) {
    REQUIRE(program.Run({"cell", "put", "t1", row, "f:q", value}).exit == 0);
  }
  const std::string regions = program.Table({"regions", "t1", "--rows"});
  INFO(regions);
  CHECK(Has(regions, R"("rows":1,"value_bytes":1,"share":0.0,)"));
  CHECK(Has(regions, R"("rows":1,"value_bytes":3000,"share":1.0,)"));
  CHECK(Has(regions, R"("warning":"this region has most bytes of the table"})"));
  CHECK(Has(regions, R"("rows":0,"value_bytes":0,"share":0.0,)"));
  const std::string sizes = program.Table({"regions", "t1"});
  INFO(sizes);
  CHECK(Has(sizes, R"("share")"));
  CHECK(!Has(sizes, R"("rows")"));
  CHECK(Has(program.Refusal({"regions", "none"}), "none"));
  CHECK(Has(program.Refusal({"list", "--rows"}, 2), "--rows"));
}

TEST_CASE("regions --rows reports how many rows it has read") {
  bool waited = false;
  const RowWatch slow = [&](Store&, const Row&) {
    if (!std::exchange(waited, true)) std::this_thread::sleep_for(std::chrono::seconds(5));
  };
  const WatchedProgram program(slow);
  REQUIRE(program.Run({"mkmetric", "a", "b"}).exit == 0);
  const Outcome outcome = program.Run({"table", "regions", "tsdb-uid", "--rows"});
  CHECK(outcome.exit == 0);
  CHECK(outcome.err.starts_with("tsdb table: 1 rows read\n"));
}

TEST_CASE("a table has a split policy, which alter changes and describe shows") {
  const TableProgram program;
  program.Table({"create", "t1", "--family", "f", "--split-policy", "KeyPrefix",
                 "--split-prefix-length", "4"});
  const std::string package = "org.apache.hadoop.hbase.regionserver.";
  CHECK(program.Describes("t1", R"("SPLIT_POLICY":")" + package + "KeyPrefixRegionSplitPolicy\""));
  CHECK(program.Describes("t1", R"("KeyPrefixRegionSplitPolicy.prefix_length":"4")"));
  CHECK(program.Describes("t1", "'KeyPrefixRegionSplitPolicy.prefix_length' => '4'"));
  program.Table({"alter", "t1", "--family", "f", "--ttl", "3d"});
  CHECK(program.Describes("t1", R"("KeyPrefixRegionSplitPolicy.prefix_length":"4")"));
  program.Table({"truncate", "t1", "--yes"});
  CHECK(program.Describes("t1", R"("KeyPrefixRegionSplitPolicy.prefix_length":"4")"));
  program.Table({"alter", "t1", "--split-policy=DelimitedKeyPrefix", R"(--split-delimiter=\x00)"});
  CHECK(program.Describes("t1", R"("DelimitedKeyPrefixRegionSplitPolicy.delimiter":"\\x00")"));
  CHECK(!program.Describes("t1", "prefix_length"));
  for (const auto& [given, shown] :
       {std::pair<const char*, const char*>{R"(\\)", R"("\\\\")"}, {R"(\\')", R"("\\\\'")"}}) {
    program.Table({"alter", "t1", "--split-delimiter", given});
    CHECK(program.Describes("t1", R"(PrefixRegionSplitPolicy.delimiter":)" + std::string(shown)));
  }
  program.Table({"alter", "t1", "--split-policy", "DEFAULT"});
  CHECK(!program.Describes("t1", "SPLIT_POLICY"));
  program.Table({"create", "t2", "f",
                 "{SPLIT_POLICY => '" + package +
                     "KeyPrefixRegionSplitPolicy', METADATA => "
                     "{'KeyPrefixRegionSplitPolicy.prefix_length' => '2'}}"});
  CHECK(program.Describes("t2", R"("KeyPrefixRegionSplitPolicy.prefix_length":"2")"));
  program.Table({"alter", "tsdb", "--split-policy", "Disabled"});
  CHECK(program.Describes("tsdb", "DisabledRegionSplitPolicy"));
}

TEST_CASE("a split policy that does not make sense is refused, and the error names its value") {
  const TableProgram program;
  program.Table({"create", "t1", "f"});
  const auto refused = [&](std::vector<std::string> options, int exit = 1) {
    options.insert(options.begin(), {"alter", "t1"});
    return program.Refusal(options, exit);
  };
  CHECK(Has(refused({"SPLIT_POLICY => 'org.apache.X'"}), "SPLIT_POLICY 'org.apache.X'"));
  CHECK(Has(refused({"--split-policy", "KeyPrefix"}), "prefix_length '0'"));
  CHECK(Has(refused({"--split-prefix-length", "4"}), "prefix_length '4'"));
  CHECK(Has(refused({"--split-policy", "KeyPrefix", "--split-prefix-length", "x"}), "'x'"));
  CHECK(Has(refused({"--split-policy", "DelimitedKeyPrefix"}), "delimiter ''"));
  for (const char* delimiter : {R"(\)", R"(\')", R"(\y)"}) {
    CHECK(Has(refused({"--split-policy=DelimitedKeyPrefix", "--split-delimiter", delimiter}, 2),
              "invalid escape"));
  }
  CHECK(Has(program.Refusal(
                {"alter", "tsdb", "--split-policy", "KeyPrefix", "--split-prefix-length", "4"}),
            "table of points"));
  CHECK(Has(program.Refusal({"drop", "t1", "--split-policy", "Disabled"}, 2), "SPLIT_POLICY"));
  CHECK(!program.Describes("t1", "SPLIT_POLICY"));
}

TEST_CASE("admin names the table command that replaces its own calls") {
  const TableProgram program;
  const Outcome created = program.Run({"admin", "create", "t5", "{NAME=>f1,TTL=>180}"});
  CHECK(created.exit == 2);
  CHECK(Has(created.err, "tsdb table create"));
  CHECK(Has(program.Run({"admin", "tables"}).err, "tsdb table list"));
}

}  // namespace
}  // namespace hg::tsd
