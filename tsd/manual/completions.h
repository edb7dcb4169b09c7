#pragma once
// Completion of the command line in bash, zsh and fish, made of the table of commands.

#include <string>

namespace hg::tsd {

/// For /usr/share/bash-completion/completions/tsdb: commands first, then the command's options;
/// other words are names of files.
std::string BashCompletion();

/// The same for zsh, with the help texts and values of options: the function file _tsdb.
std::string ZshCompletion();

/// The same for fish: vendor_completions.d/tsdb.fish.
std::string FishCompletion();

}  // namespace hg::tsd
