#pragma once
// Tells service managers and load balancers whether the daemon can serve requests. The paths are
// /healthz and /readyz, and also Prometheus' paths /-/healthy and /-/ready.

#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

struct Services;

/// The name of a statistic that is 1 after the daemon has begun to stop, and 0 before.
inline constexpr std::string_view kStoppingStat = "stopping";
/// The name of a statistic that is 1 while the store rejects new series. The store rejects new
/// series while memory is short and no flush can free memory.
inline constexpr std::string_view kSeriesFullStat = "storage.series.full";
/// The name of a statistic that is 1 while the store rejects new names, perhaps only until a flush
/// has freed memory. The store rejects new series with known names a little later.
inline constexpr std::string_view kSeriesRefusedNowStat = "storage.series.refused_now";

/// Returns OK if the daemon can serve requests now. Otherwise returns an error whose message is the
/// reason. Does not wait for disk I/O.
Status Readiness(Services& services);

}  // namespace hg::http
