#pragma once
// Classifies header fields of a request by their names.

#include <string_view>

#include "http/request/request.h"

namespace hg::http {

/// Returns whether other users may see the value of the field, for example in /api/stats/query.
/// Only fields that are known to have no credentials are shown. Gateways and plug-ins send tokens
/// in fields of many names, so a list of secret fields would be incomplete.
bool MayBeShown(std::string_view lower_name);

/// Returns whether a header field says that a proxy forwarded the request, so that the connection's
/// address is the proxy's. Not every proxy sends this field: nginx does so only if configured.
bool WasForwarded(const Request& request);

}  // namespace hg::http
