#pragma once
// Routes a request to its handler (opentsdb-http-api.md §3, §7): path, version, serializer, CORS,
// method.

#include <string_view>

#include "http/services.h"

namespace hg::http {

/// Returns the Method for the method name of a request line. Names are case-sensitive.
Method MethodOf(std::string_view verb);

/// Fills segments, api_version, endpoint_index and parameters from request->target, which begins
/// with '/'. False: a bad percent escape in the query string (400).
bool ParseTarget(Request* request);

/// True if the target's path belongs to an HTTP plug-in of OpenTSDB, "/plugin/…".
bool IsPluginPath(std::string_view target);

/// True if the endpoint may be handled on the loop that read the request (Where::kLoop).
bool MayAnswerOnLoop(const Request& request, const Options& options);

/// Answers one request for any path. Runs on a pool thread, where it may block, or with
/// request.on_loop on an event loop. Its output is valid only if it does not set request.refused.
/// Sets request.running for the handler.
void Dispatch(Request& request, Services& services, ResponseWriter& out);

/// Sends 401 if the client is not authenticated, 403 if the user lacks the role.
void SendNoAccess(const Request& request, Role needed, Services& services, ResponseWriter& out);

/// Refuses users without the role. Refuses changes and JSONP that a page of another site requests
/// (access/cross_site.h). With authentication, refuses all JSONP. True: a reply was sent.
bool RefuseAccess(const Request& request, Role needed, Services& services, ResponseWriter& out);

/// Adds the CORS headers for the request's Origin (opentsdb-http-api.md §7). False: the domain is
/// not allowed. Without CORS or without Origin: true, and no headers are added.
bool AddCorsHeaders(const Request& request, const Options& options, ResponseWriter& out);

}  // namespace hg::http
