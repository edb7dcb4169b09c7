#pragma once
// Prints the statistics as lines of text (opentsdb-http-api.md §15).

#include <string>

namespace hg::http {

struct Services;

/// Returns the output of the telnet command `stats`. The output has one line "tsd.<name> <seconds>
/// <value> <tag>=<value> …" for each number. Each line ends with LF.
std::string StatsText(Services& services);

}  // namespace hg::http
