#pragma once
// /healthz and /readyz, and the same checks under Prometheus' paths /-/healthy and /-/ready: health
// checks for service managers and load balancers.

#include <string_view>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "storage/base/status.h"

namespace hg::http {

struct Services;

/// The name of a statistic that becomes 1 when the daemon is told to stop.
inline constexpr std::string_view kStoppingStat = "stopping";
/// The name of a statistic that is 1 while new series are refused for lack of memory that no flush
/// can free.
inline constexpr std::string_view kSeriesFullStat = "storage.series.full";

/// Returns OK if the daemon can serve requests now. Otherwise the error is the reason. Does not
/// wait for disk I/O.
Status Readiness(Services& services);

/// GET, HEAD: 200 if the process can send any reply. If there is no reply, the daemon must be
/// restarted.
void HandleHealthz(const Request& request, Services& services, ResponseWriter& out);

/// GET, HEAD: 200, or 503 with the reason if requests should go to another server. A daemon that
/// refuses only new series is ready; the body says so.
void HandleReadyz(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
