#pragma once
// Sends success replies with the headers of opentsdb-http-api.md §5: Content-Type by API version,
// and jsonp.

#include <functional>
#include <string>
#include <string_view>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "http/wire/json_writer.h"
#include "storage/base/status.h"

namespace hg::http {

/// The Content-Type of JSON without a charset.
inline constexpr std::string_view kJsonType = "application/json";

/// Returns the Content-Type of a JSON reply; below /api/v1 it has a charset. Endings of the path
/// such as ".json" have no influence.
std::string_view JsonContentType(const Request& request);

/// Returns the callback of jsonp=. Returns "" if it is absent, empty or not a valid name, and on
/// unversioned paths, where jsonp= is ignored.
std::string_view JsonpCallback(const Request& request);

/// Returns the Content-Type of a JSON reply that is wrapped in the callback if there is one. Every
/// reply has a nosniff header, so browsers run a reply as a script only if it has a script type.
/// The reply gets a script type only if header fields of the request say which page sent it,
/// because the router has then already rejected pages of other sites.
std::string_view JsonpContentType(const Request& request);

/// If jsonp= has a value that is not a valid callback name, sends 400 and returns true.
bool RefuseCallback(const Request& request, ResponseWriter& out);

/// If jsonp= is present without a valid name, sends an error and returns false.
bool RequireCallbackName(const Request& request, ResponseWriter& out);

/// Sends a whole JSON document, wrapped in the jsonp callback if the request has one. An empty
/// jsonp= gets 500 "Missing callback name". For /api/tree, and for changes of metadata and
/// annotations, it gets 400 (opentsdb-http-api.md §4.2). /api/query treats an empty jsonp= as
/// absent, so it does not use this function.
void SendJson(ResponseWriter& out, const Request& request, std::string_view json, int status = 200);

/// Like SendJson, for documents that may be large: bytes are sent while `write` is still writing.
/// If `write` fails, the reply is that error (http/request/errors.h); if bytes were already sent,
/// the connection is cut. `write` should return early when JsonWriter::alive() is false. `write`
/// must not search the store: like SendJson, this function gives up the place of the request in the
/// queue of large queries, and the time limit of the request ends.
void StreamJson(ResponseWriter& out, const Request& request,
                const std::function<Status(JsonWriter* json)>& write);

/// Like StreamJson, for a `write` that searches the store while it writes: the request keeps its
/// place in the queue of large queries and its time limit until the whole document is sent.
void StreamJsonWhileReading(ResponseWriter& out, const Request& request,
                            const std::function<Status(JsonWriter* json)>& write);

/// Sends a body with the given Content-Type.
void SendBody(ResponseWriter& out, int status, std::string_view content_type,
              std::string_view body);

/// Sends a reply without Content-Type and body, for example 204 after DELETE, or 304.
void SendEmpty(ResponseWriter& out, int status);

}  // namespace hg::http
