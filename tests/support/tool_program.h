#pragma once
// Runs commands of the program `tsdb` on a separate data directory. Tests pass arguments and input,
// and get the exit status and the text of both output streams.

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tsd/program.h"

namespace hg::tsd {

struct Outcome {
  int exit = 0;
  std::string out;
  std::string err;
};

/// A data directory with settings, and functions that run commands on it. The destructor removes
/// the directory.
class ToolProgram {
 public:
  ToolProgram(BackendOpener opener, const std::string& settings)
      : opener_(std::move(opener)),
        folder_(std::filesystem::temp_directory_path() /
                ("tool_program." + std::to_string(getpid()) + "." + std::to_string(++count_))) {
    std::filesystem::create_directories(folder_);
    Write("conf", "tsd.storage.path = " + Path("data") + "\ntsd.core.auto_create_metrics = true\n" +
                      settings);
  }
  ~ToolProgram() { std::filesystem::remove_all(folder_); }
  ToolProgram(const ToolProgram&) = delete;
  ToolProgram& operator=(const ToolProgram&) = delete;

  [[nodiscard]] std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }

  [[nodiscard]] Outcome Run(std::vector<std::string> arguments,
                            const std::string& input = "") const {
    if (!arguments.empty()) arguments.insert(arguments.begin() + 1, "--config=" + Path("conf"));
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const int exit = RunProgram(arguments, opener_, in, out, err);
    return {exit, out.str(), err.str()};
  }
  /// Runs a command whose output cannot be written.
  [[nodiscard]] Outcome RunWithoutOutput(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, "--config=" + Path("conf"));
    std::istringstream in;
    std::ostream out(nullptr);
    std::ostringstream err;
    const int exit = RunProgram(arguments, opener_, in, out, err);
    return {exit, "", err.str()};
  }
  /// Runs a command that must succeed, and returns its output.
  [[nodiscard]] std::string OutputOf(std::vector<std::string> arguments) const {
    const Outcome outcome = Run(std::move(arguments));
    INFO(outcome.err);
    CHECK(outcome.exit == 0);
    return outcome.out;
  }
  /// Runs the command `import` with the given lines, all of which must be valid.
  void Import(const std::string& lines) const {
    REQUIRE(Run({"import", "--", "-"}, lines).exit == 0);
  }
  /// Runs the command `load`, which puts cells into an empty database. Each line has the form
  /// "TABLE ROW FAMILY QUALIFIER VALUE"; the words are separated by tabs.
  void Load(const std::string& lines) const { REQUIRE(Run({"load"}, lines).exit == 0); }
  [[nodiscard]] std::string Dump(const std::string& table) const {
    return Run({"dump", table}).out;
  }
  [[nodiscard]] std::string Scan(std::vector<std::string> query) const {
    query.insert(query.begin(), {"scan", "--import"});
    return OutputOf(std::move(query));
  }
  /// Returns the start keys of the regions of a table, each followed by "|".
  [[nodiscard]] std::string Starts(const std::string& table) const {
    const std::string answer = OutputOf({"admin", "regions", table});
    std::string starts;
    constexpr std::string_view kMember = "\"start\":\"";
    for (size_t at = answer.find(kMember); at != std::string::npos;
         at = answer.find(kMember, at + 1)) {
      const size_t begin = at + kMember.size();
      starts += answer.substr(begin, answer.find('"', begin) - begin) + "|";
    }
    return starts;
  }

 private:
  static inline int count_ = 0;
  const BackendOpener opener_;
  const std::filesystem::path folder_;
};

}  // namespace hg::tsd
