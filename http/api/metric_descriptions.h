#pragma once
// Types, help texts and units of metrics (http/request/client_notes.h): /api/v1/metadata of
// Prometheus returns them, and /api/metadata/put of scollector sets them. Remote write sets them,
// too.

#include "http/request/services.h"

namespace hg::http {

/// GET only. Parameters: metric, limit.
void HandlePromMetadata(const Request& request, Services& services, ResponseWriter& out);

/// POST only. The body is an array of {"Metric":…,"Tags":…,"Name":…,"Value":…}. The names "desc",
/// "unit" and "rate" of a metric are kept as its help text, unit and type; other elements are
/// ignored. 204, or 400 if the body is not JSON.
void HandleScollectorMetadata(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
