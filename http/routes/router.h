#pragma once
// Routes a request to its handler (opentsdb-http-api.md §3, §7). Checks path, version, serializer,
// CORS and method.

#include <memory>
#include <string_view>

#include "http/request/response_writer.h"
#include "http/request/services.h"
#include "query/request/running_request.h"

namespace hg::http {

/// Returns the Method for a method name in a request line. Method names are case-sensitive.
Method MethodOf(std::string_view verb);

/// Sets segments, api_version, endpoint_index and parameters from request->target, which begins
/// with '/'. Returns false if the query string has an invalid percent escape; the caller must then
/// send 400.
bool ParseTarget(Request* request);

/// Returns whether the path belongs to an HTTP plug-in of OpenTSDB ("/plugin/…").
bool IsPluginPath(std::string_view target);

/// Returns whether the loop that read the request may handle it (Where::kLoop).
bool MayAnswerOnLoop(const Request& request, const Options& options);

/// Registers a request that runs now. `writes`: the request goes on for a short time after its
/// client has gone. The arguments must outlive the result.
std::unique_ptr<query::RunningRequest> BeginRequest(const Request& request, bool writes,
                                                    Services& services, ResponseWriter& out);

/// Answers one request for any path. Runs on a pool thread, where it may block, or with
/// request.on_loop on an event loop. Sets request.running for the handler. If it sets
/// request.refused, the caller must discard the output.
void Dispatch(Request& request, Services& services, ResponseWriter& out);

/// Sends 401 if the client is not authenticated, or 403 if the user lacks the role.
void SendNoAccess(const Request& request, Role needed, Services& services, ResponseWriter& out);

/// Rejects users without the role. Rejects changes and JSONP that a page of another site requests
/// (access/cross_site.h). If authentication is on, rejects all JSONP. Returns true if it rejected
/// the request and sent a reply.
bool RefuseAccess(const Request& request, Role needed, Services& services, ResponseWriter& out);

/// Adds the CORS headers for the request's Origin (opentsdb-http-api.md §7). Returns false if the
/// domain is not allowed. If CORS is off or the request has no Origin, adds no headers and returns
/// true.
bool AddCorsHeaders(const Request& request, const Options& options, ResponseWriter& out);

}  // namespace hg::http
