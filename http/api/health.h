#pragma once
// Whether the daemon can serve requests: /healthz and /readyz, also under Prometheus' paths
// /-/healthy and /-/ready, for service managers and load balancers.

#include <string_view>

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

}  // namespace hg::http
