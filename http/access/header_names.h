#pragma once
// Classifies the header fields of a request by their names.

#include <string_view>

#include "http/request/request.h"

namespace hg::http {

/// Returns whether other users may see the value of the field, for example in /api/stats/query. The
/// result is true only for fields that are known to contain no credentials. The function does not
/// use a list of secret fields, because such a list would be incomplete: gateways and plug-ins send
/// tokens in fields of many names.
bool MayBeShown(std::string_view lower_name);

/// Returns whether a header field says that a proxy forwarded the request. In this case, the
/// address of the connection is the address of the proxy. Not every proxy sends such a field: nginx
/// sends it only if it is configured to do so.
bool WasForwarded(const Request& request);

}  // namespace hg::http
