#pragma once
// Reads the settings of the HTTP layer: ports, TLS, users, responses and write limits. As in
// settings.h, the message of InvalidArgument contains the key and the value.

#include <string>

#include "http/access/client_limits.h"
#include "http/request/options.h"
#include "tsd/config.h"
#include "tsd/ingest/metric_limits.h"

namespace hg::tsd {

/// Returns the mode that tsd.mode selects. An unknown value means "rw", as in OpenTSDB.
http::Mode ReadMode(const Config& config);
Result<http::Options> ReadHttpOptions(const Config& config);
/// Returns the path of the user file; "" = authentication is off. InvalidArgument:
/// authentication is on without a user file, or tsd.core.authentication.enable is neither true nor
/// false.
Result<std::string> ReadUsersFile(const Config& config);
/// Returns InvalidArgument if authentication is on and a Graphite port is open, because Graphite's
/// protocols have no authentication. If the setting tsd.graphite.anonymous allows this combination,
/// returns OK.
Status CheckAnonymousPorts(const Config& config);
struct WriteLimits {
  http::ClientLimitOptions client;
  MetricLimitOptions metric;
};
Result<WriteLimits> ReadWriteLimits(const Config& config);

}  // namespace hg::tsd
