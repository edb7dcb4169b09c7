#pragma once
// The manual pages of the program. They are generated from the texts of --help (tsd/command.h), so
// the manual pages and the help texts agree.

#include <string>

#include "tsd/command.h"

namespace hg::tsd {

/// Returns the manual page tsdb(1), which describes commands, common options and files.
std::string ProgramPage();

/// Returns the manual page tsdb-NAME(1) of a command, in troff with the man macros.
std::string CommandPage(const Command& command);

}  // namespace hg::tsd
