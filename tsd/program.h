#pragma once
// The program behind main: finds the command, reads options and settings, runs it. It is handed the
// engine, so the same program stands over any store.

#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "tsd/backend.h"
#include "tsd/command_line.h"

namespace hg::tsd {

struct Command;

/// All sub-commands, in the order of the usage text.
std::span<const Command* const> Commands();

/// Options of every command: --config, --table, ….
std::span<const OptionSpec> CommonOptions();

/// Runs "tsdb <arguments>" and returns its exit status (spec cli.md §1). Blocks until the command
/// is done.
int RunProgram(const std::vector<std::string>& arguments, const BackendOpener& opener,
               std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace hg::tsd
