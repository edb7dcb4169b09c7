// `tsdb backup`, `restore` and `check` on data directories. tests/fault/backup_rounds.py tests them
// with a running daemon.

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/support/tool_program.h"
#include "tsd/embedded_backend.h"

namespace hg::tsd {
namespace {

class Program : public ToolProgram {
 public:
  Program() : ToolProgram(OpenEmbeddedBackend, "") {}

  std::string Succeed(const std::vector<std::string>& words) const {
    const Outcome outcome = Run(words);
    INFO(outcome.err);
    CHECK(outcome.exit == 0);
    CHECK(outcome.out.empty());
    return outcome.err;
  }
  /// Makes a backup of a store with one point, and returns its folder.
  std::string CopyOfOnePoint() const {
    Import("m 1699999200 1 host=a\n");
    const std::string copy = Path("copy");
    Succeed({"backup", copy});
    return copy;
  }
};

void Damage(const std::filesystem::path& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3);
  file.put('\x7f');
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE(
    "a backup is restored with the same rows, and a second backup to the same folder copies "
    "little") {
  const Program program;
  program.Import("m 1699999200 1 host=a\nm 1699999201 2.5 host=b\n");
  const std::string first = program.Dump("tsdb");
  const std::string copy = program.Path("copy");
  CHECK(Has(program.Succeed({"backup", copy}), "(0 files were there, "));
  CHECK(Has(program.Succeed({"check", copy}), "no damage found"));
  program.Import("m 1699999202 3 host=a\n");
  const std::string restored = "--data=" + program.Path("restored");
  program.Succeed({"restore", restored, copy});
  CHECK(program.Run({"dump", restored, "tsdb"}).out == first);
  CHECK(Has(program.Succeed({"check", program.Path("restored")}), "no damage found"));
  CHECK(!Has(program.Succeed({"backup", copy}), "(0 files were there, "));
  const std::string later = "--data=" + program.Path("later");
  program.Succeed({"restore", later, copy});
  CHECK(program.Run({"dump", later, "tsdb"}).out == program.Dump("tsdb"));
}

TEST_CASE("impossible backups, restores and checks are refused, and the error names the folder") {
  const Program program;
  const std::string copy = program.CopyOfOnePoint();
  const auto refusal = [&](const std::vector<std::string>& words, int exit = 1) {
    const Outcome outcome = program.Run(words);
    CHECK(outcome.exit == exit);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  refusal({"backup"}, 2);
  refusal({"backup", copy, copy}, 2);
  refusal({"restore"}, 2);
  refusal({"check", copy, copy}, 2);
  CHECK(Has(refusal({"restore", copy}), "data: is not empty"));
  std::filesystem::create_directories(program.Path("full/sub"));
  CHECK(Has(refusal({"restore", "--data=" + program.Path("full"), copy}), "sub"));
  CHECK(Has(refusal({"restore", "--data=" + program.Path("new"), program.Path("none")}), "none"));
  CHECK(Has(refusal({"check", program.Path("full")}), "full"));
  program.Write("full/notes.txt", "mine");
  CHECK(Has(refusal({"backup", program.Path("full")}), "notes.txt"));
  CHECK(std::filesystem::exists(program.Path("full/notes.txt")));
}

TEST_CASE("check prints a line for each damage, with file and offset, and fails") {
  const Program program;
  const std::string copy = program.CopyOfOnePoint();
  int damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(copy)) {
    if (entry.path().extension() != ".points") continue;
    // The hard link is the store's own file, so both are damaged, as on a real disk.
    Damage(entry.path());
    ++damaged;
  }
  REQUIRE(damaged == 1);
  for (const std::string& folder : {copy, program.Path("data")}) {
    const Outcome outcome = program.Run({"check", folder});
    CHECK(outcome.exit == 1);
    CHECK(outcome.out.starts_with(folder + "/"));
    CHECK(Has(outcome.out, ".points at 0: "));
    CHECK(Has(outcome.out, "; lost: rows from key "));
    CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 1);
    CHECK(Has(outcome.err, "1 damaged places"));
  }
  const Outcome refused = program.Run({"restore", "--data=" + program.Path("new"), copy});
  CHECK(refused.exit == 1);
  CHECK(Has(refused.err, ".points at 0: "));
}

TEST_CASE("repair moves damaged files aside and names the losses, and the store serves the rest") {
  const Program program;
  program.Import("m 1699999200 1 host=a\n");
  REQUIRE(program.Run({"admin", "flush"}).exit == 0);
  program.Import("m 1699999201 2 host=a\n");
  REQUIRE(program.Run({"admin", "flush"}).exit == 0);
  CHECK(Has(program.Succeed({"repair"}), "nothing was damaged"));
  const auto points = [&] { return program.Scan({"1699990000", "1700010000", "sum", "m"}); };
  REQUIRE(points() == "m 1699999200 1 host=a\nm 1699999201 2 host=a\n");
  std::string last;
  for (const auto& entry : std::filesystem::directory_iterator(program.Path("data"))) {
    if (entry.path().extension() == ".points") last = std::max(last, entry.path().string());
  }
  Damage(last);
  CHECK(program.Run({"check"}).exit == 1);
  const Outcome repaired = program.Run({"repair"});
  CHECK(repaired.exit == 0);
  CHECK(repaired.out.starts_with(last + " at 0: "));
  CHECK(Has(repaired.err, "is set aside as " + program.Path("data/lost/")));
  CHECK(program.Run({"check"}).exit == 0);
  CHECK(points() == "m 1699999200 1 host=a\n");
  CHECK(program.Run({"repair", "a", "b"}).exit == 2);
  CHECK(Has(program.Run({"repair", program.Path("none")}).err, "none"));
}

}  // namespace
}  // namespace hg::tsd
