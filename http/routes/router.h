#pragma once
// Passes a request to its handler (opentsdb-http-api.md §3, §7). The router checks path, version,
// serializer, CORS, method and permissions before it calls the handler.

#include <memory>
#include <string_view>

#include "http/request/response_writer.h"
#include "http/request/services.h"
#include "query/request/running_request.h"

namespace hg::http {

/// Returns the Method for a method name in a request line. Method names are case-sensitive.
Method MethodOf(std::string_view verb);

/// Removes the prefixes /influx and /prometheus from request->target, which must begin with '/'.
/// Then sets the members segments, api_version, endpoint_index and parameters from the rest of the
/// target. Returns false if the query string has an invalid percent escape, or if request->memory
/// has not enough memory for the parameters.
bool ParseTarget(Request* request);

/// Returns whether the path belongs to an HTTP plug-in of OpenTSDB ("/plugin/…").
bool IsPluginPath(std::string_view target);

/// Returns whether the event loop that read the request may handle the request (Where::kLoop).
bool MayAnswerOnLoop(const Request& request, const Options& options);

/// Registers a request that runs now. If `writes` is true, the request continues for a short time
/// after its client has disconnected. The arguments must outlive the result.
std::unique_ptr<query::RunningRequest> BeginRequest(const Request& request, bool writes,
                                                    Services& services, ResponseWriter& out);

/// Handles one request with any path, and sends the response. Runs on a pool thread, where it may
/// block, or on an event loop if request.on_loop is true. Sets request.running for the handler. If
/// request.refused is true afterwards, the caller must discard the response.
void Dispatch(Request& request, Services& services, ResponseWriter& out);

/// Sends 401 if the client is not authenticated, and 403 if the user lacks the role `needed`.
void SendNoAccess(const Request& request, Role needed, Services& services, ResponseWriter& out);

/// Rejects requests of users who lack the role `needed`. Also rejects changes and JSONP that a page
/// of another site requests (access/cross_site.h). If authentication is on, rejects all JSONP. If
/// the function rejects the request, it sends a reply and returns true.
bool RefuseAccess(const Request& request, Role needed, Services& services, ResponseWriter& out);

/// Adds the CORS headers for the Origin of the request (opentsdb-http-api.md §7). Returns false if
/// the domain of the Origin is not allowed. If CORS is off or the request has no Origin, the
/// function adds no headers and returns true.
bool AddCorsHeaders(const Request& request, const Options& options, ResponseWriter& out);

}  // namespace hg::http
