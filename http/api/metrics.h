#pragma once
// /metrics: the numbers of /api/stats in Prometheus' format; latencies as histograms.

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// GET, HEAD. A number without a mapping in metric_names.h is shown untyped under its own name.
void HandleMetrics(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
