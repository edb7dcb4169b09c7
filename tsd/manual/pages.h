#pragma once
// The program's manual pages, made of the same texts as --help (tsd/command.h): they cannot differ.

#include <string>

#include "tsd/command.h"

namespace hg::tsd {

/// tsdb(1): the commands, what they have in common, files.
std::string ProgramPage();

/// tsdb-NAME(1), in troff's man macros.
std::string CommandPage(const Command& command);

}  // namespace hg::tsd
