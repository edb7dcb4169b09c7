// Ids and metadata.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "tests/tsd/tools/model_program.h"
#include "tsd/log.h"

namespace hg::tsd {
namespace {

TEST_CASE("names are assigned, looked up, searched, renamed and deleted") {
  const ModelProgram program;
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

TEST_CASE("uid distinguishes wrong usage, invalid numbers and invalid expressions") {
  const ModelProgram program;
  CHECK(program.Run({"uid"}).exit == 2);
  CHECK(program.Run({"uid", "assign", "metrics"}).exit == 2);
  CHECK(program.Run({"uid", "assign", "nokind", "x"}).exit == 1);
  CHECK(program.Run({"uid", "delete", "nokind", "x"}).exit == 4);
  CHECK(program.Run({"uid", "--idwidth=0", "1"}).exit == 3);
  CHECK(program.Run({"uid", "--idwidth=x", "1"}).exit == 1);
  CHECK(program.Run({"uid", "grep", "("}).exit == 3);
}

/// Returns how many of the kept log lines contain the text.
size_t CountLogLines(std::string_view text) {
  const std::vector<std::string> lines = RecentLogLines();
  return static_cast<size_t>(
      std::count_if(lines.begin(), lines.end(),
                    [&](const std::string& line) { return line.find(text) != std::string::npos; }));
}

/// Loads cells of tsdb-uid, one "ROW FAMILY QUALIFIER VALUE" each, rows and values in hexadecimal.
void LoadUids(const ToolProgram& program, const std::vector<std::array<std::string, 4>>& cells) {
  std::string lines;
  for (const auto& [row, family, qualifier, value] : cells)
    lines += "tsdb-uid\t" + row + "\t" + family + "\t" + ToHex(qualifier) + "\t" + value + "\n";
  REQUIRE(program.Run({"load"}, lines).exit == 0);
}

TEST_CASE(
    "if all ids of a kind are assigned, the log says once why new names are refused, however many "
    "are") {
  const ModelProgram program("tsd.storage.uid.width.tagv = 1\n");
  LoadUids(program, {{"00", "id", "tagv", "00000000000000fe"}});
  constexpr std::string_view kRefused = "new names are refused";
  const size_t before = CountLogLines(kRefused);
  std::string lines;
  for (const char* host : {"last", "more", "many", "most"})
    lines += "m 1699999200 1 host=" + std::string(host) + "\n";
  const Outcome outcome = program.Run({"import", "--skip-errors", "--", "-"}, lines);
  INFO(outcome.err);
  CHECK(program.Scan({"1699999200", "sum", "m"}) == "m 1699999200 1 host=last\n");
  REQUIRE(CountLogLines(kRefused) == before + 1);
  CHECK(CountLogLines("All unique ids for 'tagv' on 1 bytes are already assigned") == 1);
}

TEST_CASE(
    "uid fsck counts a missing reverse mapping and a counter that is behind, and repairs both") {
  const ModelProgram program;
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
    "uid fsck gives an id with two names a third name, and deletes a reverse mapping "
    "without a name") {
  const ModelProgram program;
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

TEST_CASE(
    "uid fsck accepts a counter above the number of ids, and does not repair a damaged counter") {
  const ModelProgram behind;
  LoadUids(behind, {{"00", "id", "metrics", "0000000000000002"},
                    {"6d", "id", "metrics", "000003"},
                    {"000003", "name", "metrics", "6d"}});
  CHECK(behind.Run({"uid", "fsck", "fix"}).exit == 0);
  CHECK(behind.Dump("tsdb-uid").find("0000000000000002") != std::string::npos);
  const ModelProgram damaged;
  LoadUids(damaged, {{"00", "id", "metrics", "ffff"},
                     {"6d", "id", "metrics", "000003"},
                     {"000003", "name", "metrics", "6d"}});
  for (const char* word : {"fix", "delete_unknown"})
    CHECK(damaged.Run({"uid", "fsck", word}).exit == 2);
  CHECK(damaged.Dump("tsdb-uid").find("\tffff\n") != std::string::npos);
}

TEST_CASE("uid fsck reports and repairs no mapping that a client changes during the scan") {
  const auto id = [](char last) { return Bytes("\0\0", 2) + last; };
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"uid", "fsck"}, {"uid", "fsck", "fix"}}) {
    bool changed = false;
    const RowWatch watch = [&](Store& store, const Row& row) {
      if (row.key != "m" || std::exchange(changed, true)) return;
      const auto map = [&](const Bytes& name, char last) {
        REQUIRE(store.Mutate("tsdb-uid", {{id(last), {PutCell("name", "metrics", name)}}}).ok());
        REQUIRE(store.Mutate("tsdb-uid", {{name, {PutCell("id", "metrics", id(last))}}}).ok());
      };
      map("a", 1);
      map("y", 2);
      for (const char* old : {"z", "b"})
        REQUIRE(store.Mutate("tsdb-uid", {{old, {DeleteColumn("id", "metrics")}}}).ok());
      map("c", 4);
      REQUIRE(*store.Increment("tsdb-uid", Bytes(1, '\0'), "id", "metrics", 1) == 5);
      map("x", 5);
    };
    const WatchedProgram program(watch);
    LoadUids(program, {{"00", "id", "metrics", "0000000000000004"},
                       {"000001", "name", "metrics", "7a"},  // z, which is renamed to a
                       {"000002", "name", "metrics", "62"},  // b, which is renamed to y
                       {"000003", "name", "metrics", "6d"},  // m, which is not changed
                       {"000004", "name", "metrics", "63"},  // c, which is being assigned
                       {"62", "id", "metrics", "000002"},
                       {"6d", "id", "metrics", "000003"},
                       {"7a", "id", "metrics", "000001"}});
    const Outcome outcome = program.Run(words);
    INFO(outcome.err);
    CHECK(outcome.exit == 0);
    REQUIRE(changed);
    for (const char* line :
         {"metrics a: [0, 0, 1]\n", "metrics y: [0, 0, 2]\n", "metrics m: [0, 0, 3]\n",
          "metrics c: [0, 0, 4]\n", "metrics x: [0, 0, 5]\n"}) {
      CHECK(program.Run({"uid", std::string(1, line[18])}).out == line);
    }
    CHECK(program.Run({"uid", "fsck"}).exit == 0);
    CHECK(program.Run({"mkmetric", "n"}).out == "metrics n: [0, 0, 6]\n");
  }
}

TEST_CASE("uid fsck checks and repairs the other names if a name or id cannot be a row key") {
  const ModelProgram program;
  LoadUids(program, {{"00", "id", "metrics", "0000000000000003"},
                     {"000001", "name", "metrics", ""},
                     {"000002", "name", "metrics", ToHex(Bytes(40'000, 'x'))},
                     {"6d", "id", "metrics", "000003"},
                     {"6e", "id", "metrics", ""}});
  CHECK(program.Run({"uid", "fsck"}).exit == 3);
  const Outcome fixed = program.Run({"uid", "fsck", "fix"});
  INFO(fixed.err);
  CHECK(fixed.exit == 3);
  CHECK(program.Run({"uid", "3"}).out == "metrics m: [0, 0, 3]\n");
  CHECK(program.Dump("tsdb-uid").find("000001\t") == std::string::npos);
  CHECK(program.Dump("tsdb-uid").find("000002\t") == std::string::npos);
  CHECK(program.Run({"uid", "fsck"}).exit == 2);  // the name of the empty id stays
}

TEST_CASE("uid fsck keeps the names of one id if the name that joins them exists") {
  const ModelProgram program;
  const Bytes joined = "fsck.a.b";
  LoadUids(program, {{"00", "id", "tagv", "0000000000000002"},
                     {"000001", "name", "tagv", "61"},
                     {"000002", "name", "tagv", ToHex(joined)},
                     {"61", "id", "tagv", "000001"},
                     {"62", "id", "tagv", "000001"},
                     {ToHex(joined), "id", "tagv", "000002"}});
  const std::string before = program.Dump("tsdb-uid");
  const Outcome outcome = program.Run({"uid", "fsck", "fix"});
  CHECK(outcome.exit == 2);
  CHECK(RecentLogLines().at(2).find("the name fsck.a.b exists") != std::string::npos);
  CHECK(program.Dump("tsdb-uid") == before);
}

TEST_CASE("uid fsck deletes unknown columns only when told to") {
  const ModelProgram program;
  LoadUids(program, {{"000001", "name", "strange_meta", "78"}});
  CHECK(program.Run({"uid", "fsck", "fix"}).exit == 0);
  CHECK_FALSE(program.Run({"dump", "tsdb-uid"}).out.empty());
  CHECK(program.Run({"uid", "fsck", "fix", "delete_unknown"}).exit == 0);
  CHECK(program.Run({"dump", "tsdb-uid"}).out.empty());
  CHECK(program.Run({"uid", "fsck", "nosuch"}).exit == 2);
}

TEST_CASE("metasync creates metadata of series that have points, and metapurge deletes it") {
  const ModelProgram program;
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

TEST_CASE("metapurge forgotten deletes only the metadata of series without points and rollups") {
  const ModelProgram program;
  program.Import("m 1699999200 1 host=a\nm 1699999200 1 host=b\nm 1699999200 1 host=c\n");
  CHECK(program.Run({"uid", "metasync"}).exit == 0);
  const std::string names = program.Run({"dump", "tsdb-uid"}).out;
  const std::string all = program.Run({"dump", "tsdb-meta"}).out;
  CHECK(program.Run({"uid", "metapurge", "forgotten"}).exit == 0);
  CHECK(program.Run({"dump", "tsdb-meta"}).out == all);
  for (const char* tag : {"host=a", "host=b"})
    CHECK(program.Run({"scan", "--delete", "1699999200", "sum", "m", tag}).exit == 0);
  REQUIRE(program.Run({"table", "create", "rollups", "--family", "t"}).exit == 0);
  const std::string row_of_b = "\\x00\\x00\\x01\\x65\\x53\\xed\\xe0\\x00\\x00\\x01\\x00\\x00\\x02";
  const Outcome rolled = program.Run({"cell", "put", "rollups", row_of_b, "t:sum", "1"});
  INFO(rolled.err);
  REQUIRE(rolled.exit == 0);
  CHECK(program.Run({"uid", "metapurge", "forgotten"}).exit == 0);
  const std::string left = program.Run({"dump", "tsdb-meta"}).out;
  CHECK(left.find("000001000001000001\t") == std::string::npos);
  CHECK(left == all.substr(all.find("000001000001000002\t")));
  CHECK(program.Run({"dump", "tsdb-uid"}).out == names);
  CHECK(program.Run({"uid", "metapurge", "all"}).exit == 2);
}

TEST_CASE(
    "metasync corrects stored metadata of series and ids, and keeps fields written by users") {
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
  // The row of m has the base 1699999200. The row of n, which has the same tag, is two hours
  // earlier.
  for (const auto& [stored, series, id] : {std::array{"0", "1699999200", "1699992000"},
                                           std::array{"1700010000", "1699999200", "1699992000"},
                                           std::array{"1699999900", "1699999900", "1699992000"},
                                           std::array{"1699992100", "1699992100", "1699992100"}}) {
    CAPTURE(stored);
    const ModelProgram one;
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

TEST_CASE("treepurge deletes the content of a tree, and its definition only with the word true") {
  const ModelProgram program;
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

}  // namespace
}  // namespace hg::tsd
