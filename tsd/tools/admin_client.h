#pragma once
// How a tool speaks to a running daemon: /api/admin.

#include <string>
#include <string_view>

#include "http/request.h"
#include "storage/base/status.h"

namespace hg::tsd {

/// The answer of http://HOST:PORT/api/admin/CALL, by POST if `post`. Waits as long as the daemon
/// takes. InvalidArgument: no such URL, or the daemon refused; its message. Unavailable: nobody
/// answers there.
Result<std::string> AskDaemon(const std::string& url, std::string_view call, bool post,
                              const http::Parameters& parameters);

}  // namespace hg::tsd
