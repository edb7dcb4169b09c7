#pragma once
// How a tool speaks to a running daemon: /api/admin.

#include <optional>
#include <string>
#include <string_view>

#include "http/request.h"
#include "storage/base/file.h"
#include "storage/base/status.h"

namespace hg::tsd {

/// The answer of http://HOST:PORT/api/admin/CALL, by POST if `post`. Waits as long as the daemon
/// takes. InvalidArgument: no such URL, or the daemon refused; its message. Unavailable: nobody
/// answers there.
Result<std::string> AskDaemon(const std::string& url, std::string_view call, bool post,
                              const http::Parameters& parameters);

/// Where the daemon serves that has the data directory, as its lock file tells; none: a process of
/// another kind has it.
std::optional<std::string> DaemonUrl(FileSystem& files, const std::string& data_folder);

}  // namespace hg::tsd
