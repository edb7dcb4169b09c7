#pragma once
// Handlers of /api/stats and the paths below it and of /stats, and the output of the telnet command
// `stats` (opentsdb-http-api.md §15).

#include <string>

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST: /api/stats[/jvm|query|region_clients|threads]; other words are ignored.
void HandleStats(const Request& request, Services& services, ResponseWriter& out);

/// GET, POST: returns the statistics as lines of text; with ?json as an array of lines.
void HandleStatsPage(const Request& request, Services& services, ResponseWriter& out);

/// Returns the output of the telnet command `stats`: a line "tsd.<name> <seconds> <value>
/// <tag>=<value> …" for each number. Lines end with LF.
std::string StatsText(Services& services);

}  // namespace hg::http
