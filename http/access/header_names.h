#pragma once
// Facts about the names of a request's header fields.

#include <string_view>

#include "http/request/request.h"

namespace hg::http {

/// Returns true if other users may see the value of the field, for example in /api/stats/query.
/// Only fields that are known to hold no credentials are shown: gateways and plug-ins send tokens
/// in fields of many names, so a list of secret fields would be incomplete.
bool MayBeShown(std::string_view lower_name);

/// Returns true if a proxy says that it forwarded the request, so that the connection's address is
/// the proxy's. Not every proxy says so: nginx does so only if configured.
bool WasForwarded(const Request& request);

}  // namespace hg::http
