#pragma once
// /api/stats and its family, /stats, telnet `stats` (spec http-api.md §15).

#include <string>

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// GET, POST: /api/stats[/jvm|query|region_clients|threads]; another word is taken as none.
void HandleStats(const Request& request, Services& services, ResponseWriter& out);

/// GET, POST: /stats as lines of text, with ?json as an array of them.
void HandleStatsPage(const Request& request, Services& services, ResponseWriter& out);

/// What telnet `stats` prints: "tsd.<name> <seconds> <value> <tag>=<value> …\n" each.
std::string StatsText(Services& services);

}  // namespace hg::http
