#pragma once
// Paths for people and browsers: the home page, /logs, files (spec http-api.md §19.1).

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

struct Services;

/// Any verb.
void HandleHome(const Request& request, Services& services, ResponseWriter& out);

/// GET, POST. The log goes to the process' standard error, not to memory: always 400, as OpenTSDB
/// without its appender.
void HandleLogs(const Request& request, Services& services, ResponseWriter& out);

/// Any verb: /s/<file> and /favicon.ico from Options::static_root.
void HandleFile(const Request& request, Services& services, ResponseWriter& out);

}  // namespace hg::http
