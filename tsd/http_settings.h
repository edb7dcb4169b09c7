#pragma once
// The settings of the network edge: ports, TLS, users, what is answered and how much may be
// written. As settings.h: InvalidArgument names key and value.

#include <string>

#include "http/access/client_limits.h"
#include "http/options.h"
#include "tsd/config.h"
#include "tsd/ingest/metric_limits.h"

namespace hg::tsd {

/// tsd.mode; what is no mode is rw, as OpenTSDB has it.
http::Mode ReadMode(const Config& config);
Result<http::Options> ReadHttpOptions(const Config& config);
/// The file of users; "" = authentication is off.
Result<std::string> ReadUsersFile(const Config& config);
/// InvalidArgument: others must say who they are, and a port of Graphite's, which cannot ask, is
/// open; but for tsd.graphite.anonymous.
Status CheckAnonymousPorts(const Config& config);
struct WriteLimits {
  http::ClientLimitOptions client;
  MetricLimitOptions metric;
};
Result<WriteLimits> ReadWriteLimits(const Config& config);

}  // namespace hg::tsd
