#pragma once
// What a sub-command is, and what it may touch. Standard output holds answers and nothing else
// (spec cli.md); everything said to the person goes to the error stream.

#include <istream>
#include <ostream>
#include <span>
#include <string_view>

#include "storage/base/clock.h"
#include "storage/base/status.h"
#include "tsd/command_line.h"
#include "tsd/session.h"

namespace hg::tsd {

/// Exit codes with one meaning everywhere (spec cli.md §1).
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

struct Command;

/// A command's call. Lives as long as the command runs.
struct Invocation {
  const Command& command;
  const CommandLine& line;
  Session& session;  // not open yet: what fails without the store should fail before
  const Clock& clock;
  std::istream& in;
  std::ostream& out;
  std::ostream& err;

  /// Says why on the error stream; gives kExitFailed.
  int Fail(const Status& status);
  /// Says why and how the command is called; gives kExitUsage.
  int Misused(std::string_view why);
  /// Opens the session. A data directory that another process holds is explained with the command's
  /// own hint.
  Status Open(StoreUse use = StoreUse::kWork);
};

/// A sub-command. Static data.
struct Command {
  std::string_view name;
  std::string_view words;    // behind the options, for the usage text
  std::string_view summary;  // one line
  std::string_view details;  // more lines of the usage text; may be empty
  std::span<const OptionSpec> options;
  /// What to ask a running daemon over HTTP instead; empty if nothing corresponds.
  std::string_view http_instead;
  int (*run)(Invocation&);
  /// Options of this command that stand for settings; nullptr if there are none.
  void (*apply_options)(const CommandLine&, Config*) = nullptr;
};

/// The usage text of a command.
std::string DescribeCommand(const Command& command);

}  // namespace hg::tsd
