#pragma once
// Paths for browsers: the home page, /logs, files (opentsdb-http-api.md §19.1).

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

struct Services;

/// Any method: the web page (http/page).
void HandleHome(const Request& request, Services& services, ResponseWriter& out);

/// GET, POST: returns the last lines of the log. With the parameter `level`, sets the log level
/// instead. 400 if the process keeps no log lines in memory.
void HandleLogs(const Request& request, Services& services, ResponseWriter& out);

/// Any method: /s/<file> and /favicon.ico. Files of the web page take precedence over files in
/// Options::static_root.
void HandleFile(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
