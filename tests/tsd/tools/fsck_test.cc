// The command fsck over both engines: the recorded scenarios with their reports, and the keys and
// words of the command.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/support/file_text.h"
#include "tests/support/model_backend.h"
#include "tests/support/tool_program.h"
#include "tsd/embedded_backend.h"

namespace hg::tsd {
namespace {

const std::filesystem::path kRecorded = HG_SOURCE_DIR "/tests/compat/conformance";

struct Engine {
  const char* name;
  BackendOpener open;
};

std::vector<Engine> Engines() {
  return {{"model", OpenModelBackend}, {"embedded", OpenEmbeddedBackend}};
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Reads a step "=== KIND TEXT" with its lines, and the lines below "--- exit" and "--- log".
struct Step {
  std::vector<std::string> words;
  std::string exit;
  std::vector<std::string> lines;
};

std::vector<Step> Steps(const std::string& scenario) {
  std::vector<Step> steps;
  for (const std::string& line : Lines(scenario)) {
    if (line.starts_with("=== ")) {
      std::istringstream words(line.substr(4));
      steps.emplace_back();
      for (std::string word; words >> word;) steps.back().words.push_back(word);
    } else if (line.starts_with("--- exit ")) {
      steps.back().exit = line.substr(9);
    } else if (line.starts_with("| ")) {
      steps.back().lines.push_back(line.substr(2));
    }
  }
  return steps;
}

/// Returns the "name: number" lines of fsck's output.
std::vector<std::string> Report(const std::string& err) {
  std::vector<std::string> lines = Lines(err);
  const auto first = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("Key Values Processed: ");
  });
  const auto last = std::find_if(first, lines.end(), [](const std::string& line) {
    return line.starts_with("Total Errors Fixed: ");
  });
  REQUIRE(last != lines.end());
  return {first, last + 1};
}

TEST_CASE("the recorded scenarios leave the recorded cells, with the recorded report") {
  size_t scenarios = 0;
  for (const Engine& engine : Engines()) {
    for (const auto& entry : std::filesystem::directory_iterator(kRecorded / "cli")) {
      const std::string text = TextOf(entry.path());
      if (!entry.path().filename().string().starts_with("fsck-") ||
          text.find("setup cli-broken") == std::string::npos)
        continue;
      ++scenarios;
      CAPTURE(entry.path().filename().string());
      CAPTURE(engine.name);
      const ToolProgram program(engine.open, "tsd.storage.enable_compaction = false\n");
      program.Load(TextOf(kRecorded / "cells_in" / "cli-broken.tsv"));
      for (const Step& step : Steps(text)) {
        if (step.words[0] == "cells") {
          std::vector<std::string> cells = Lines(program.Dump(step.words[1]));
          for (std::string& cell : cells) cell.insert(0, step.words[1] + "\t");
          CHECK(cells == step.lines);
          continue;
        }
        const Outcome outcome =
            program.Run(std::vector<std::string>(step.words.begin() + 1, step.words.end()));
        CHECK(std::to_string(outcome.exit) == step.exit);
        CHECK(outcome.out.empty());
        if (!step.lines.empty() && step.lines[0].starts_with("Key Values Processed: "))
          CHECK(Report(outcome.err) == step.lines);
      }
    }
  }
  CHECK(scenarios == 2 * 12);
}

/// Cells with the names of m, host=a and host=b, which have the ids 1, 1, 1 and 2.
const char* const kNames =
    "tsdb-uid\t000001\tname\t6d657472696373\t6d\n"
    "tsdb-uid\t000001\tname\t7461676b\t686f7374\n"
    "tsdb-uid\t000001\tname\t74616776\t61\n"
    "tsdb-uid\t000002\tname\t74616776\t62\n"
    "tsdb-uid\t61\tid\t74616776\t000001\n"
    "tsdb-uid\t62\tid\t74616776\t000002\n"
    "tsdb-uid\t686f7374\tid\t7461676b\t000001\n"
    "tsdb-uid\t6d\tid\t6d657472696373\t000001\n";
const char* const kRowA = "0000016553ede0000001000001\tt\t";
const char* const kRowB = "0000016553ede0000001000002\tt\t";
const char* const kGlobal = "0000006553ede0\tt\t01002d\t7b7d\n";

TEST_CASE("two points of one time are duplicates whose age is known, also after a restart") {
  for (const Engine& engine : Engines()) {
    CAPTURE(engine.name);
    for (const bool last : {false, true}) {
      const ToolProgram program(engine.open, "tsd.storage.enable_compaction = false\n");
      program.Import("m 1699999200 300 host=a\n");
      program.Import("m 1699999200 7 host=a\n");
      std::vector<std::string> words = {"fsck", "--full-scan", "--fix", "--resolve-duplicates"};
      if (last) words.emplace_back("--last-write-wins");
      const Outcome outcome = program.Run(words);
      CHECK(outcome.exit == 1);
      CHECK(program.Dump("tsdb") == std::string(kRowA) + (last ? "0000\t07\n" : "0001\t012c\n"));
      CHECK(program.Run({"fsck", "--full-scan"}).exit == 0);
    }
  }
}

TEST_CASE("keys without tags, truncated keys and rows without names are distinguished") {
  for (const Engine& engine : Engines()) {
    CAPTURE(engine.name);
    const ToolProgram program(engine.open, "");
    const std::string good = std::string(kRowA) + "0010\t18\n";
    const std::string no_tags = "0000016553ede0\tt\t0010\t18\n";
    const std::string cut = "0000016553ede00000\tt\t0010\t18\n";
    const std::string short_key = "000001655400\tt\t0010\t18\n";
    const std::string orphan = "0000016553ede0000002000001\tt\t0010\t18\n";
    std::string lines = kNames;
    for (const std::string& cell : {good, no_tags, cut, short_key, orphan})
      lines += "tsdb\t" + cell;
    program.Load(lines);
    Outcome outcome = program.Run({"fsck", "--full-scan", "--fix", "--delete-bad-rows"});
    CHECK(outcome.exit == 1);
    CHECK(outcome.err.find("Invalid Row Keys Found: 3\n") != std::string::npos);
    CHECK(outcome.err.find("Invalid Rows Deleted: 3\n") != std::string::npos);
    CHECK(outcome.err.find("Orphaned UID Rows: 1\n") != std::string::npos);
    CHECK(program.Dump("tsdb") == good + orphan);
    CHECK(program.Run({"fsck", "--full-scan", "--fix", "--delete-orphans"}).exit == 1);
    CHECK(program.Dump("tsdb") == good);
    CHECK(program.Run({"fsck", "--full-scan"}).exit == 0);
  }
}

TEST_CASE(
    "a damaged row after global annotations is repaired and reported, but does not change "
    "the exit status") {
  for (const Engine& engine : Engines()) {
    CAPTURE(engine.name);
    const ToolProgram program(engine.open, "");
    program.Load(std::string(kNames) + "tsdb\t" + kGlobal + "tsdb\t" + kRowA +
                 "001b\t0000000040866666\n");
    const Outcome outcome = program.Run({"fsck", "--full-scan", "--threads=1", "--fix"});
    CHECK(outcome.exit == 0);
    CHECK(outcome.err.find("Total Errors: 1\n") != std::string::npos);
    CHECK(outcome.err.find("1 of the errors") != std::string::npos);
    CHECK(program.Dump("tsdb") == std::string(kGlobal) + kRowA + "001b\t40866666\n");
  }
}

TEST_CASE("several threads divide the table, salted or not, and find the same as one thread") {
  for (const Engine& engine : Engines()) {
    CAPTURE(engine.name);
    for (const char* settings : {"", "tsd.storage.salt.width = 1\n"}) {
      const ToolProgram program(engine.open,
                                "tsd.storage.enable_compaction = false\n" + std::string(settings));
      for (const char* value : {" 1", " 300"}) {
        std::string lines;
        for (int i = 0; i < 30; ++i)
          lines += "m" + std::to_string(i) + " 1699999200" + value + " host=a\n";
        program.Import(lines);
      }
      for (const char* threads : {"--threads=1", "--threads=3"}) {
        const Outcome outcome = program.Run({"fsck", "--full-scan", threads});
        CHECK(outcome.exit == 1);
        CHECK(outcome.err.find("Duplicate Datapoints: 30\n") != std::string::npos);
        CHECK(outcome.err.find("Rows Processed: 30\n") != std::string::npos);
      }
    }
  }
}

TEST_CASE("a query checks its own rows only, and takes precedence over --full-scan") {
  const ToolProgram program(OpenModelBackend, "");
  const std::string a = std::string(kRowA) + "0000\t\n";
  const std::string b = std::string(kRowB) + "0000\t\n";
  program.Load(std::string(kNames) + "tsdb\t" + a + "tsdb\t" + b);
  const std::vector<std::string> fix = {"fsck", "--full-scan", "--fix-all"};
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), fix.begin(), fix.end());
    return program.Run(words).exit;
  };
  CHECK(run({"1600000000", "1600000001", "sum", "m"}) == 0);
  CHECK(run({"1699999200", "sum", "m", "host=b"}) == 1);
  CHECK(program.Dump("tsdb") == a);
  CHECK(run({"1699999200", "sum", "m", "host=*"}) == 1);
  CHECK(program.Dump("tsdb").empty());
}

TEST_CASE("fsck distinguishes wrong usage, invalid numbers and unknown names") {
  const ToolProgram program(OpenModelBackend, "");
  program.Import("m 1699999200 1 host=a\n");
  CHECK(program.Run({"fsck", "--help"}).exit == 0);
  CHECK(program.Run({"fsck"}).exit == 1);
  CHECK(program.Run({"fsck", "--fix"}).exit == 1);
  CHECK(program.Run({"fsck", "--nosuch"}).exit == 2);
  CHECK(program.Run({"fsck", "1", "sum"}).exit == 2);
  for (const char* threads : {"0", "-1", "x", "999999"})
    CHECK(program.Run({"fsck", "--full-scan", "--threads", threads}).exit == 1);
  CHECK(program.Run({"fsck", "1699999200", "sum", "nosuch"}).exit == 1);
  CHECK(program.Run({"fsck", "1699999200", "nosuch", "m"}).exit == 1);
  CHECK(program.Run({"fsck", "1699999200", "sum", "m"}).exit == 0);
}

TEST_CASE("tsd.storage.fix_duplicates keeps the last write, and repair_appends repairs old cells") {
  const ToolProgram program(OpenModelBackend,
                            "tsd.storage.fix_duplicates = true\n"
                            "tsd.storage.repair_appends = true\n");
  program.Load(std::string(kNames) + "tsdb\t" + kRowA + "0010\t07\n" + "tsdb\t" + kRowA +
               "0011\t0008\n" + "tsdb\t" + kRowB + "050000\t00201800002a002019\n");
  CHECK(program.Run({"fsck", "--full-scan"}).exit == 1);
  CHECK(program.Dump("tsdb").find("00201800002a002019") != std::string::npos);
  CHECK(program.Run({"fsck", "--full-scan", "--fix", "--resolve-duplicates"}).exit == 1);
  CHECK(program.Dump("tsdb") ==
        std::string(kRowA) + "0011\t0008\n" + kRowB + "050000\t00002a002019\n");
}

}  // namespace
}  // namespace hg::tsd
