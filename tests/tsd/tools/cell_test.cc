// `tsdb cell` on a data directory of its own.

#include <doctest/doctest.h>

#include "tests/support/tool_program.h"
#include "tsd/embedded_backend.h"
#include "tsd/tools/cell_read.h"

namespace hg::tsd {
namespace {

class CellProgram : public ToolProgram {
 public:
  CellProgram() : ToolProgram(OpenEmbeddedBackend, "") {
    REQUIRE(Run({"table", "create", "t1", "--family=f1", "--versions=2", "--family=f2"}).exit == 0);
  }
  /// The output without the times.
  std::string Cell(std::vector<std::string> words) const {
    words.insert(words.begin(), "cell");
    const Outcome outcome = Run(std::move(words));
    INFO(outcome.err);
    CHECK(outcome.exit == 0);
    std::string shown;
    int column = 0;
    for (const char c : outcome.out) {
      if (c == '\t') ++column;
      if (c == '\n') column = 0;
      if (column != 2) shown += c;
    }
    return shown;
  }
};

TEST_CASE("cells are put, got, scanned, counted and deleted") {
  const CellProgram program;
  program.Cell({"put", "t1", "row1", "f1:q", "one"});
  program.Cell({"put", "t1", "row1", "f2:", R"(\x00\\)"});
  program.Cell({"put", "t1", "row2", "f1:q", "old"});
  program.Cell({"put", "t1", "row2", "f1:q", "two"});
  program.Cell({"put", "t1", R"(s\xFF)", "f1:q", "three"});
  CHECK(program.Cell({"get", "t1", "row1"}) == "row1\tf1:q\tone\nrow1\tf2:\t\\x00\\\\\n");
  CHECK(program.Cell({"get", "t1", "row1", "f1"}) == "row1\tf1:q\tone\n");
  CHECK(program.Cell({"get", "t1", "row2", "f1:q", "--versions=9"}) ==
        "row2\tf1:q\ttwo\nrow2\tf1:q\told\n");
  CHECK(program.Cell({"get", "t1", "none"}).empty());
  CHECK(program.Cell({"scan", "t1", "f1:q", "--prefix", "r", "--limit", "1"}) ==
        "row1\tf1:q\tone\n");
  CHECK(program.Cell({"scan", "t1", "--start=row2", "--stop=s"}) == "row2\tf1:q\ttwo\n");
  CHECK(program.Cell({"count", "t1"}) == "3\n");
  CHECK(program.Cell({"count", "t1", "f2"}) == "1\n");
  CHECK(program.Cell({"count", "t1", "--prefix=s"}) == "1\n");
  program.Cell({"delete", "t1", "row1", "f1:q"});
  CHECK(program.Cell({"get", "t1", "row1"}) == "row1\tf2:\t\\x00\\\\\n");
  program.Cell({"delete", "t1", "row2"});
  program.Cell({"delete", "t1", R"(s\xFF)", "f1"});
  CHECK(program.Cell({"count", "t1"}) == "1\n");
}

TEST_CASE("long reads report the number of rows at intervals") {
  std::vector<std::string> lines;
  const auto keep = [&](const std::string& line) { lines.push_back(line); };
  RowProgress always(std::chrono::milliseconds(0), keep);
  always.Count(3);
  always.Count(4);
  CHECK(lines == std::vector<std::string>{"3 rows read", "7 rows read"});
  RowProgress hourly(std::chrono::hours(1), keep);
  hourly.Count(3);
  CHECK(lines.size() == 2);
}

TEST_CASE("invalid arguments and writes to OpenTSDB's tables fail with an error that names them") {
  const CellProgram program;
  const auto refusal = [&](std::vector<std::string> words, int exit, const std::string& word) {
    words.insert(words.begin(), "cell");
    const Outcome outcome = program.Run(std::move(words));
    CHECK(outcome.exit == exit);
    CHECK(outcome.out.empty());
    INFO(outcome.err);
    CHECK(outcome.err.find(word) != std::string::npos);
  };
  refusal({}, 2, "get, put");
  refusal({"nosuch", "t1"}, 2, "nosuch");
  refusal({"put", "t1", "r", "f1", "v"}, 2, "'f1'");
  refusal({"put", "t1", "r", "f1:q"}, 2, "put");
  refusal({"get", "t1", R"(\y)"}, 2, R"(\y)");
  refusal({"scan", "t1", "--limit=0"}, 2, "--limit: 0");
  refusal({"get", "none", "r"}, 1, "none");
  refusal({"put", "t1", "r", "none:q", "v"}, 1, "none");
  refusal({"put", "tsdb-uid", "r", "id:metrics", "v"}, 1, "tsdb-uid");
  refusal({"delete", "default:tsdb", "r"}, 1, "default:tsdb");
}

}  // namespace
}  // namespace hg::tsd
