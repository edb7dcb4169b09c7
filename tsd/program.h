#pragma once
// The program that main() runs. It finds the command, reads options and settings, and runs the
// command. The caller supplies the engine, so the program works with any store.

#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "tsd/backend.h"
#include "tsd/command_line.h"

namespace hg::tsd {

struct Command;

/// Returns all sub-commands, in the order of the usage text.
std::span<const Command* const> Commands();

/// Returns the options that every command has, such as --config and --table.
std::span<const OptionSpec> CommonOptions();

/// Runs the command line "tsdb <arguments>" and returns its exit code (opentsdb-tools.md §1).
/// Blocks until the command has ended. If the command succeeded but `out` cannot be written,
/// reports the error and does not return kExitOk.
int RunProgram(const std::vector<std::string>& arguments, const BackendOpener& opener,
               std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace hg::tsd
