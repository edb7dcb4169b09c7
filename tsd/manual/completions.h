#pragma once
// Command-line completion for bash, zsh and fish, generated from the table of commands.

#include <string>

namespace hg::tsd {

/// Returns /usr/share/bash-completion/completions/tsdb. It completes commands first, then options
/// of the command. Other words complete to file names.
std::string BashCompletion();

/// Returns the zsh function file _tsdb, with help texts and values of options.
std::string ZshCompletion();

/// Returns vendor_completions.d/tsdb.fish.
std::string FishCompletion();

}  // namespace hg::tsd
