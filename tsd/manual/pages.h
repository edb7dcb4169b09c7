#pragma once
// The manual pages of the program. They are generated from the texts of --help (tsd/command.h), so
// manual pages and help texts agree.

#include <string>

#include "tsd/command.h"

namespace hg::tsd {

/// Returns the manual page tsdb(1), with commands, common options and files.
std::string ProgramPage();

/// Returns the manual page tsdb-NAME(1) in troff's man macros.
std::string CommandPage(const Command& command);

}  // namespace hg::tsd
