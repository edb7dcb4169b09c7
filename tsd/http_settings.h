#pragma once
// Reads the settings of the HTTP layer: ports, TLS, users, responses and write limits. As in
// settings.h, the message of InvalidArgument names key and value.

#include <string>

#include "http/access/client_limits.h"
#include "http/request/options.h"
#include "tsd/config.h"
#include "tsd/ingest/metric_limits.h"

namespace hg::tsd {

/// Reads tsd.mode. Unknown values mean "rw", as in OpenTSDB.
http::Mode ReadMode(const Config& config);
Result<http::Options> ReadHttpOptions(const Config& config);
/// Returns the path of the users file; "" = authentication is off.
Result<std::string> ReadUsersFile(const Config& config);
/// Returns InvalidArgument if authentication is on and a Graphite port is open, because Graphite's
/// protocol has no authentication. The setting tsd.graphite.anonymous allows this combination.
Status CheckAnonymousPorts(const Config& config);
struct WriteLimits {
  http::ClientLimitOptions client;
  MetricLimitOptions metric;
};
Result<WriteLimits> ReadWriteLimits(const Config& config);

}  // namespace hg::tsd
