// `tsdb admin` on a data directory: its output and its effect on the regions.

#include <doctest/doctest.h>

#include "tests/support/tool_program.h"
#include "tsd/embedded_backend.h"

namespace hg::tsd {
namespace {

class Program : public ToolProgram {
 public:
  explicit Program(const std::string& settings = "") : ToolProgram(OpenEmbeddedBackend, settings) {}

  std::string Admin(std::vector<std::string> words) const {
    words.insert(words.begin(), "admin");
    return OutputOf(std::move(words));
  }
};

TEST_CASE("regions are split and merged without changing stored data") {
  const Program program;
  program.Import("m 1699999200 1 host=a\nn 1699995600 1 host=a\nn 1699999200 1 host=b\n");
  const std::string before = program.Dump("tsdb");
  CHECK(program.Admin({"split", "tsdb", "--at", R"(\x00\x00\x02)"}) ==
        "{\"at\":\"\\\\x00\\\\x00\\\\x02\"}\n");
  CHECK(program.Starts("tsdb") == R"(|\\x00\\x00\\x02|)");
  program.Admin({"flush"});
  CHECK(program.Dump("tsdb") == before);
  // Metric n has two hours.
  CHECK(program.Admin({"split", "tsdb", "--region", R"(\x00\x00\x02)"}).find("{\"at\":") == 0);
  const std::string sizes = program.Admin({"sizes"});
  CHECK(sizes.find(R"({"table":"tsdb","regions":3,)") != std::string::npos);
  CHECK(sizes.find(R"("references":2})") != std::string::npos);
  program.Admin({"compact", "tsdb"});
  CHECK(program.Admin({"sizes", "tsdb"}).find(R"("references":0})") != std::string::npos);
  CHECK(program.Dump("tsdb") == before);
  // The counts are correct for each region: one row of m, two of n.
  CHECK(program.Admin({"count", "tsdb"}).find(R"({"table":"tsdb","rows":3,"cells":3,)") == 0);
  program.Admin({"merge", "tsdb", R"(\x00\x00\x02)"});
  program.Admin({"compact"});
  CHECK(program.Dump("tsdb") == before);
}

TEST_CASE("impossible calls of admin are refused, and the error has the key or word") {
  const Program program;
  CHECK(program.Run({"admin", "count"}).exit == 1);
  CHECK(program.Run({"admin", "count", "none"}).exit == 1);
  const auto refusal = [&](std::vector<std::string> words, int exit = 1) {
    words.insert(words.begin(), "admin");
    const Outcome outcome = program.Run(std::move(words));
    CHECK(outcome.exit == exit);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  refusal({}, 2);
  refusal({"flush", "tsdb", "more"}, 2);
  CHECK(refusal({"nosuch"}).find("nosuch") != std::string::npos);
  CHECK(refusal({"regions", "none"}).find("none") != std::string::npos);
  CHECK(refusal({"split"}).find("table") != std::string::npos);
  CHECK(refusal({"split", "tsdb", "--at", "x", "--region", "x", "--at", ""}).size() > 0);
  CHECK(refusal({"merge", "tsdb"}).find("at") != std::string::npos);
  CHECK(refusal({"merge", "tsdb", R"(a\xFF)"}).find(R"(a\xFF)") != std::string::npos);
  CHECK(refusal({"flush", "--url", "here"}).find("here") != std::string::npos);
  CHECK(refusal({"flush", "--url", "http://127.0.0.1:1"}).find("127.0.0.1:1") != std::string::npos);
}

}  // namespace
}  // namespace hg::tsd
