#pragma once
// The slow path of /api/put (opentsdb-http-api.md §8): all rules and error messages. The connection
// first tries the fast path (wire/put_json.h) and uses this handler for other bodies.

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// POST only. Blocks.
void HandlePut(const Request& request, Services& services, ResponseWriter& out);

/// /api/rollup (opentsdb-http-api.md §9.1): reads the same document as /api/put and checks the
/// rollup fields, too. If rollups are not configured, it refuses each point after these checks.
/// POST only.
void HandleRollup(const Request& request, Services& services, ResponseWriter& out);

/// /api/histogram (opentsdb-http-api.md §9.2). POST only. If histograms are not enabled: 503 for
/// any method.
void HandleHistogram(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
