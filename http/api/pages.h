#pragma once
// Paths for people and browsers: the home page, /logs, files (spec http-api.md §19.1).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// Any verb: the page (http/page).
void HandleHome(const Request& request, Services& services, ResponseWriter& out);

/// GET, POST. The log goes to the process' standard error, not to memory: always 400, as OpenTSDB
/// without its appender.
void HandleLogs(const Request& request, Services& services, ResponseWriter& out);

/// Any verb: /s/<file> and /favicon.ico from Options::static_root, before it the page's own files.
void HandleFile(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
