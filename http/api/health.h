#pragma once
// Whether the daemon can serve requests, for service managers and load balancers: /healthz and
// /readyz, or under Prometheus' paths /-/healthy and /-/ready.

#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

struct Services;

/// The name of a statistic that becomes 1 when the daemon begins to stop.
inline constexpr std::string_view kStoppingStat = "stopping";
/// The name of a statistic. It is 1 while new series are rejected because memory is short and no
/// flush can free any.
inline constexpr std::string_view kSeriesFullStat = "storage.series.full";

/// Returns OK if the daemon can serve requests now. Otherwise the error is the reason. Does not
/// wait for disk I/O.
Status Readiness(Services& services);

}  // namespace hg::http
