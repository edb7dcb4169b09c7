#pragma once
// The manual pages of the program, generated from the texts of --help (tsd/command.h), so both
// agree.

#include <string>

#include "tsd/command.h"

namespace hg::tsd {

/// Returns the manual page tsdb(1): commands, common options, files.
std::string ProgramPage();

/// Returns the manual page tsdb-NAME(1) in troff's man macros.
std::string CommandPage(const Command& command);

}  // namespace hg::tsd
