#pragma once
// /metrics: the numbers of /api/stats for Prometheus; how long things took as histograms.

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// GET, HEAD. A number that metric_names.h does not know is shown untyped under its own name.
void HandleMetrics(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
