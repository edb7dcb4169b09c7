// Commands that only read leave the files of the store unchanged, even if many files wait to be
// merged.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include "tests/support/tool_program.h"
#include "tsd/embedded_backend.h"

namespace hg::tsd {
namespace {

/// Records how each run opens the store.
class UseProgram : public ToolProgram {
 public:
  UseProgram()
      : ToolProgram(
            [this](const Config& config, const std::string& words, StoreUse use) {
              uses.push_back(use);
              return OpenEmbeddedBackend(config, words, use);
            },
            "") {}

  /// The data directory without the log, which a start may continue in a new file.
  [[nodiscard]] std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(Path("data"))) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".log") || name == "LOCK") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[name] = std::string(std::istreambuf_iterator<char>(file), {});
    }
    return files;
  }

  std::vector<StoreUse> uses;
};

const std::string kPoints = "m 1699999200 1 host=a\nm 1700009200 1 host=b\n";

TEST_CASE("commands that only read leave every file unchanged, even if merges are due") {
  UseProgram program;
  program.Import(kPoints);
  REQUIRE(program.Run({"admin", "flush"}).exit == 0);
  REQUIRE(program.Run({"admin", "split", "tsdb"}).exit == 0);
  const auto before = program.Files();
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"query", "1699990000", "1700010000", "sum", "m"},
           {"scan", "--import", "1699990000", "1700010000", "sum", "m"},
           {"dump", "tsdb"},
           {"search", "lookup", "m"},
           {"uid", "grep", "m"},
           {"uid", "metrics", "m"},
           {"uid", "fsck"},
           {"fsck", "--full-scan"},
           {"admin", "sizes"}}) {
    CAPTURE(words[0]);
    program.uses.clear();
    const Outcome outcome = program.Run(words);
    INFO(outcome.err);
    CHECK(outcome.exit == 0);
    CHECK(program.uses == std::vector<StoreUse>{StoreUse::kLook});
    CHECK(program.Files() == before);
  }
}

TEST_CASE(
    "commands that write much open the store for work, so that it flushes and merges meanwhile") {
  UseProgram program;
  program.Import(kPoints);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"uid", "metasync"},
           {"uid", "fsck", "fix"},
           {"fsck", "--full-scan", "--fix"},
           {"scan", "--delete", "1699990000", "1700010000", "sum", "m"}}) {
    CHECK(program.Run(words).exit == 0);
  }
  CHECK(program.uses.size() == 5);
  CHECK(std::count(program.uses.begin(), program.uses.end(), StoreUse::kWork) == 5);
}

}  // namespace
}  // namespace hg::tsd
