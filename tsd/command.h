#pragma once
// The interface of the sub-commands. Standard output contains only results (opentsdb-tools.md). All
// messages for users are written to the error stream.

#include <istream>
#include <ostream>
#include <span>
#include <string_view>

#include "storage/base/clock.h"
#include "storage/base/status.h"
#include "tsd/command_line.h"
#include "tsd/session.h"

namespace hg::tsd {

/// Exit codes of the program. An exit code has the same meaning in every command (opentsdb-tools.md
/// §1).
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

struct Command;

/// One call of a command, with everything that the command needs. The object exists while the
/// command runs.
struct Invocation {
  const Command& command;
  const CommandLine& line;
  /// Not open at first, so that a command can report errors before it opens the store.
  Session& session;
  const Clock& clock;
  std::istream& in;
  std::ostream& out;
  std::ostream& err;

  /// Prints the error to the error stream, and returns kExitFailed.
  int Fail(const Status& status);
  /// Prints the reason and the usage text to the error stream, and returns kExitUsage.
  int Misused(std::string_view why);
  /// Opens the session. If another process uses the data directory, the error message also says
  /// what the user can do instead of this command (Command::http_instead).
  Status Open(StoreUse use = StoreUse::kWork);
};

/// A sub-command. Its data are static.
struct Command {
  std::string_view name;
  std::string_view words;    // the words after the options, for the usage text
  std::string_view summary;  // a summary of one line
  std::string_view details;  // more lines for the usage text; may be empty
  std::span<const OptionSpec> options;
  /// The request to a running daemon that has the same effect as this command; empty if there is no
  /// such request.
  std::string_view http_instead;
  int (*run)(Invocation&);
  /// Changes the settings in the Config to the values of the command's options. nullptr: no option
  /// of the command changes a setting.
  void (*apply_options)(const CommandLine&, Config*) = nullptr;
};

/// Returns the usage text of a command.
std::string DescribeCommand(const Command& command);

}  // namespace hg::tsd
