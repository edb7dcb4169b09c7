#pragma once
// From a request to its handler (spec http-api.md §3, §7): path, version, serializer, CORS, verb.

#include <string_view>

#include "http/services.h"

namespace hg::http {

/// The Method of a verb as sent; verbs are case-sensitive.
Method MethodOf(std::string_view verb);

/// Fills segments, api_version, endpoint_index and parameters from request->target, which begins
/// with '/'. False: a bad percent escape in the query string (400).
bool ParseTarget(Request* request);

/// Whether the path of a target is one of OpenTSDB's HTTP plug-ins, "/plugin/…".
bool IsPluginPath(std::string_view target);

/// Whether it is worth trying to answer the request on the loop that read it (Where::kLoop).
bool MayAnswerOnLoop(const Request& request, const Options& options);

/// Answers one request, whatever it asks for. Runs on a pool thread, where it may block, or under
/// NoWait: then what it wrote counts only if nothing was refused.
void Dispatch(const Request& request, Services& services, ResponseWriter& out);

/// 401 where nobody said who he is, or not truly; 403 where a user lacks the role.
void SendNoAccess(const Request& request, Role needed, Services& services, ResponseWriter& out);

/// Refuses a user without the role, and where users say who they are what a page of another site
/// may have made a browser ask for: changes, and jsonp. True: answered.
bool RefuseAccess(const Request& request, Role needed, Services& services, ResponseWriter& out);

/// Adds the CORS headers that this request's Origin earns (§7); false: the domain is not allowed.
/// Without CORS, or without Origin: true and nothing added.
bool AddCorsHeaders(const Request& request, const Options& options, ResponseWriter& out);

}  // namespace hg::http
