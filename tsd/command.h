#pragma once
// The interface of sub-commands. Standard output contains only results (opentsdb-tools.md). All
// messages for users go to the error stream.

#include <istream>
#include <ostream>
#include <span>
#include <string_view>

#include "storage/base/clock.h"
#include "storage/base/status.h"
#include "tsd/command_line.h"
#include "tsd/session.h"

namespace hg::tsd {

/// Exit codes. Each has the same meaning in every command (opentsdb-tools.md §1).
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

struct Command;

/// One call of a command, with all that the command needs. It exists while the command runs.
struct Invocation {
  const Command& command;
  const CommandLine& line;
  Session& session;  // not open yet, so that a command can report errors before it opens the store
  const Clock& clock;
  std::istream& in;
  std::ostream& out;
  std::ostream& err;

  /// Prints the reason to the error stream and returns kExitFailed.
  int Fail(const Status& status);
  /// Prints the reason and the usage text, and returns kExitUsage.
  int Misused(std::string_view why);
  /// Opens the session. If another process uses the data directory, the error message also says
  /// what the user can do instead (http_instead).
  Status Open(StoreUse use = StoreUse::kWork);
};

/// A sub-command. Its data is static.
struct Command {
  std::string_view name;
  std::string_view words;    // words after the options, for the usage text
  std::string_view summary;  // one line
  std::string_view details;  // more lines of the usage text; may be empty
  std::span<const OptionSpec> options;
  /// The request to a running daemon that has the same effect; empty if there is no such request.
  std::string_view http_instead;
  int (*run)(Invocation&);
  /// Writes those options of this command that are settings to the Config. May be nullptr.
  void (*apply_options)(const CommandLine&, Config*) = nullptr;
};

/// Returns the usage text of a command.
std::string DescribeCommand(const Command& command);

}  // namespace hg::tsd
