#pragma once
// Command-line completion for bash, zsh and fish, generated from the table of commands.

#include <string>

namespace hg::tsd {

/// Returns the content of /usr/share/bash-completion/completions/tsdb. Its functions complete the
/// first word to a command, and a word that begins with '-' to an option of the command. They
/// complete other words to file names.
std::string BashCompletion();

/// Returns the content of the zsh function file _tsdb, with help texts and the values of options.
std::string ZshCompletion();

/// Returns the content of vendor_completions.d/tsdb.fish.
std::string FishCompletion();

}  // namespace hg::tsd
