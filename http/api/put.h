#pragma once
// /api/put, the exact way (spec http-api.md §8): every rule, every text. The connection tries the
// fast way first (wire/put_json.h) and comes here with what that does not take.

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// POST only. Blocks.
void HandlePut(const Request& request, Services& services, ResponseWriter& out);

/// /api/rollup (§9.1): the same document with the same checks and some more; where rollups are not
/// configured, then a refusal of each point. POST only.
void HandleRollup(const Request& request, Services& services, ResponseWriter& out);

/// /api/histogram (§9.2). POST only; where histograms are not enabled 503, whatever the verb.
void HandleHistogram(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
