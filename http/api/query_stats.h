#pragma once
// /api/stats/query: queries that run and that ran last (spec http-api.md §15.3), and, ours, the end
// of one: DELETE with ?id=.

#include "http/services.h"

namespace hg::http {

void HandleQueryStats(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
