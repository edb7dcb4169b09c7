#pragma once
// The statistics as lines of text (opentsdb-http-api.md §15).

#include <string>

namespace hg::http {

struct Services;

/// Returns the output of the telnet command `stats`. For each number it has a line "tsd.<name>
/// <seconds> <value> <tag>=<value> …". Lines end with LF.
std::string StatsText(Services& services);

}  // namespace hg::http
