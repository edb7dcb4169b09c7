#pragma once
// Command-line completion for bash, zsh and fish. It is generated from the table of commands.

#include <string>

namespace hg::tsd {

/// Returns the content of /usr/share/bash-completion/completions/tsdb. Its functions complete the
/// first word to a command, and a word that begins with '-' to an option of the command. All other
/// words are completed to file names.
std::string BashCompletion();

/// Returns the content of the zsh function file _tsdb, which also completes the values of options
/// and shows help texts.
std::string ZshCompletion();

/// Returns the content of the file vendor_completions.d/tsdb.fish.
std::string FishCompletion();

}  // namespace hg::tsd
