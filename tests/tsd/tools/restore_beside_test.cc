// restore into a directory that a daemon uses: data that is missing there is added, and existing
// data is not replaced.

#include <doctest/doctest.h>

#include <filesystem>

#include "storage/codec/row_key.h"
#include "tests/support/tool_program.h"
#include "tests/tsd/tools/running_store.h"
#include "tsd/open_backend.h"
#include "tsd/tools/id_map.h"

namespace hg::tsd {
namespace {

class Program : public ToolProgram {
 public:
  Program() : ToolProgram(OpenBackendOrBeside, "") {}

  /// Imports lines into a directory, whether or not a process uses the directory.
  void Import(const std::string& lines, const std::string& folder = "data") const {
    const Outcome done = Run({"import", "--data=" + Path(folder), "--", "-"}, lines);
    INFO(done.err);
    REQUIRE(done.exit == 0);
  }
  void Backup() const { REQUIRE(Run({"backup", Path("copy")}).exit == 0); }
  [[nodiscard]] Outcome Restore(const std::string& folder = "data") const {
    return Run({"restore", "--data=" + Path(folder), Path("copy")});
  }
  [[nodiscard]] std::string Points(const std::string& metric,
                                   const std::string& folder = "data") const {
    const Outcome done = Run(
        {"scan", "--data=" + Path(folder), "--import", "1699990000", "1700010000", "sum", metric});
    INFO(done.err);
    CHECK(done.exit == 0);
    return done.out;
  }
};

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("deleted data is restored, and newer writes stay") {
  const Program program;
  program.Import("m 1699999200 1 host=a\nm 1699999201 2 host=a\nn 1699999200 3 host=a\n");
  program.Backup();
  const RunningStore daemon(program.Path("data"));
  // Rows that were overwritten, added or deleted, and rows of a renamed metric.
  program.Import("m 1699999200 10 host=a\nm 1699999205 5 host=a\n");
  REQUIRE(program.Run({"scan", "--delete", "1699990000", "1700010000", "sum", "n"}).exit == 0);
  REQUIRE(program.Run({"uid", "rename", "metrics", "n", "renamed"}).exit == 0);
  const std::string names = program.Dump("tsdb-uid");
  const Outcome restored = program.Restore();
  INFO(restored.err);
  REQUIRE(restored.exit == 0);
  CHECK(restored.out.empty());
  CHECK(Has(restored.err, ", by its daemon: "));
  CHECK(Has(restored.err, " 1 written, 1 of them were missing"));
  CHECK(program.Points("m") ==
        "m 1699999200 10 host=a\nm 1699999201 2 host=a\nm 1699999205 5 host=a\n");
  CHECK(program.Points("renamed") == "renamed 1699999200 3 host=a\n");
  CHECK(program.Dump("tsdb-uid") == names);
  const Outcome again = program.Restore();
  CHECK(again.exit == 0);
  CHECK(Has(again.err, " 0 written"));
  CHECK_FALSE(std::filesystem::exists(program.Path("data/restoring")));
}

TEST_CASE("a daemon with a new store gets the series of the backup by their names") {
  const Program program;
  program.Import("m 1699999200 1 host=a\nm 1699999201 2 host=b\nm 1699999202 3 cpu=0 host=a\n");
  program.Backup();
  const std::string whole = program.Points("m");
  const RunningStore daemon(program.Path("fresh"));
  program.Import("other 1699999200 7 host=b\nm 1699999201 20 host=b\nm 1699999300 4 host=b\n",
                 "fresh");
  const Outcome restored = program.Restore("fresh");
  INFO(restored.err);
  REQUIRE(restored.exit == 0);
  CHECK(Has(restored.err, "metadata and trees of table tsdb-meta are left out"));
  const std::string points = program.Points("m", "fresh");
  CHECK(Has(points, "m 1699999200 1 host=a\n"));
  CHECK(Has(points, "m 1699999201 20 host=b\nm 1699999300 4 host=b\n"));
  CHECK(Has(points, "m 1699999202 3 "));
  CHECK(std::count(points.begin(), points.end(), '\n') == 4);
  CHECK(program.Points("other", "fresh") == "other 1699999200 7 host=b\n");
  CHECK(program.Run({"uid", "--data=" + program.Path("fresh"), "fsck"}).exit == 0);
  // Ids that are assigned after the restore must not be those of restored series.
  program.Import("later 1699999200 1 host=c\n", "fresh");
  CHECK(program.Run({"uid", "--data=" + program.Path("fresh"), "fsck"}).exit == 0);
  CHECK(program.Points("m", "fresh") == points);
}

TEST_CASE("an empty daemon becomes a copy of the backup, with the same ids") {
  const Program program;
  program.Import("m 1699999200 1 host=a\nm 1699999201 2.5 host=b\nn 1700009200 3 host=a\n");
  REQUIRE(program.Run({"uid", "metasync"}).exit == 0);
  program.Backup();
  const RunningStore daemon(program.Path("fresh"));
  REQUIRE(program.Restore("fresh").exit == 0);
  for (const char* table : {"tsdb", "tsdb-uid", "tsdb-meta"}) {
    CHECK(program.Run({"dump", "--data=" + program.Path("fresh"), table}).out ==
          program.Dump(table));
  }
}

TEST_CASE("tables of users are restored unchanged, also into a daemon with other ids") {
  const Program program;
  program.Import("m 1699999200 1 host=a\n");
  REQUIRE(program.Run({"table", "create", "users", "--family=f", "--versions=3"}).exit == 0);
  for (const char* row : {"kept", "deleted", R"(\x00\x00\x01)"})
    REQUIRE(program.Run({"cell", "put", "users", row, "f:q", "old"}).exit == 0);
  program.Backup();
  const std::string whole = program.Dump("users");
  {
    const RunningStore daemon(program.Path("fresh"));
    program.Import("other 1699999200 7 host=b\n", "fresh");
    const Outcome restored = program.Restore("fresh");
    INFO(restored.err);
    REQUIRE(restored.exit == 0);
    CHECK(program.Run({"dump", "--data=" + program.Path("fresh"), "users"}).out == whole);
    CHECK(Has(program.Run({"table", "--data=" + program.Path("fresh"), "describe", "users"}).out,
              R"("VERSIONS":"3")"));
  }
  const RunningStore daemon(program.Path("data"));
  REQUIRE(program.Run({"cell", "put", "users", "kept", "f:q", "new"}).exit == 0);
  REQUIRE(program.Run({"cell", "delete", "users", "deleted"}).exit == 0);
  REQUIRE(program.Restore().exit == 0);
  CHECK(program.Run({"cell", "get", "users", "kept"}).out.find("new") != std::string::npos);
  CHECK(program.Run({"cell", "get", "users", "deleted"}).out.find("old") != std::string::npos);
}

TEST_CASE("a table of users that the daemon has with other families is left out") {
  const Program program;
  program.Import("m 1699999200 1 host=a\n");
  for (const char* table : {"users", "visits"}) {
    REQUIRE(program.Run({"table", "create", table, "--family=f"}).exit == 0);
    REQUIRE(program.Run({"cell", "put", table, "row", "f:q", "value"}).exit == 0);
  }
  program.Backup();
  const std::string data = "--data=" + program.Path("fresh");
  const RunningStore daemon(program.Path("fresh"));
  REQUIRE(program.Run({"table", data, "create", "users", "--family=g"}).exit == 0);
  const Outcome restored = program.Restore("fresh");
  INFO(restored.err);
  CHECK(restored.exit == 0);
  CHECK(Has(restored.err, "table users is left out"));
  CHECK(program.Run({"dump", data, "users"}).out.empty());
  CHECK(program.Run({"dump", data, "visits"}).out == program.Dump("visits"));
}

TEST_CASE("a point that a client wrote after it was found missing stays") {
  const Program program;
  program.Import("m 1699999200 1 host=a\nm 1699999201 2 host=a\n");
  program.Backup();
  RunningStore daemon(program.Path("data"));
  REQUIRE(program.Run({"scan", "--delete", "1699990000", "1700010000", "sum", "m"}).exit == 0);
  daemon.cells().meddle = [&] { program.Import("m 1699999201 20 host=a\n"); };
  REQUIRE(program.Restore().exit == 0);
  CHECK_FALSE(daemon.cells().meddle);
  CHECK(program.Points("m") == "m 1699999200 1 host=a\nm 1699999201 20 host=a\n");
}

TEST_CASE("nothing is restored from a damaged or invalid backup") {
  const Program program;
  program.Import("m 1699999200 1 host=a\n");
  program.Backup();
  for (const auto& entry : std::filesystem::directory_iterator(program.Path("copy"))) {
    if (entry.path().extension() != ".points") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(3);
    file.put('\x7f');
  }
  const RunningStore daemon(program.Path("fresh"));
  const Outcome damaged = program.Restore("fresh");
  CHECK(damaged.exit == 1);
  CHECK(Has(damaged.err, ".points at 0: "));
  CHECK(program.Run({"dump", "--data=" + program.Path("fresh"), "tsdb-uid"}).out.empty());
  CHECK_FALSE(std::filesystem::exists(program.Path("fresh/restoring")));
  const Outcome none =
      program.Run({"restore", "--data=" + program.Path("fresh"), program.Path("none")});
  CHECK(none.exit == 1);
  CHECK(Has(none.err, "none: no whole backup"));
}

TEST_CASE("IdMap replaces the ids in the key of a row and in the TSUIDs of the row's annotations") {
  const KeyLayout layout;
  IdMap ids(layout);
  const auto id = [](char last) { return Bytes("\0\0", 2) + last; };
  ids.Add(UidKind::kMetric, id(1), id(1));
  CHECK(ids.same());
  ids.Add(UidKind::kMetric, id(1), id(9));
  ids.Add(UidKind::kTagk, id(1), id(5));
  ids.Add(UidKind::kTagv, id(3), id(4));
  CHECK_FALSE(ids.same());
  const Bytes here = codec::MakeTsuid(id(1), {id(1) + id(3), id(2) + id(3)});
  const Bytes there = codec::MakeTsuid(id(9), {id(2) + id(4), id(5) + id(4)});
  Row row{
      codec::MakeRowKey(layout, here, 1'699'999'200),
      {{"t", Bytes(2, '\0'), "\1", 0},
       {"t", Bytes("\1\0\0", 3), R"({"tsuid":")" + ToHexUpper(here) + R"(","startTime":1})", 0}}};
  ids.Rename(&row);
  CHECK(row.key == codec::MakeRowKey(layout, there, 1'699'999'200));
  CHECK(row.cells[0].value == "\1");
  CHECK(row.cells[1].value == R"({"tsuid":")" + ToHexUpper(there) + R"(","startTime":1})");
  Row global{codec::MakeGlobalRowKey(layout, 1'699'999'200), {}};
  ids.Rename(&global);
  CHECK(global.key == codec::MakeGlobalRowKey(layout, 1'699'999'200));
}

}  // namespace
}  // namespace hg::tsd
