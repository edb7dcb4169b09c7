#pragma once
// Sends replies of successful requests with the headers of opentsdb-http-api.md §5. The
// Content-Type depends on the API version, and a document may be wrapped in a jsonp callback.

#include <functional>
#include <string>
#include <string_view>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "http/wire/json_writer.h"
#include "storage/base/status.h"

namespace hg::http {

/// The Content-Type of JSON replies without a charset.
inline constexpr std::string_view kJsonType = "application/json";

/// Returns the Content-Type of a JSON reply. It has a charset if the path is below /api, except
/// below /api/v0. Endings of the path such as ".json" have no effect.
std::string_view JsonContentType(const Request& request);

/// Returns the name of the callback in the parameter jsonp=. Returns "" if the parameter is absent,
/// empty or not a valid name. Also returns "" on unversioned paths, on which jsonp= is ignored.
std::string_view JsonpCallback(const Request& request);

/// Returns the Content-Type of a JSON reply that is wrapped in a callback, or of a plain JSON reply
/// if there is no callback. Every reply has a nosniff header, so browsers run a reply as a script
/// only if it has a script type. The reply gets a script type only if header fields of the request
/// name the page that sent the request, because the router has already rejected such requests from
/// pages of other sites.
std::string_view JsonpContentType(const Request& request);

/// If the value of jsonp= is neither empty nor a valid callback name, sends 400 and returns true.
/// Returns false on unversioned paths, on which jsonp= is ignored.
bool RefuseCallback(const Request& request, ResponseWriter& out);

/// If jsonp= is present without a valid callback name, sends an error reply and returns false.
/// Returns true on unversioned paths, on which jsonp= is ignored.
bool RequireCallbackName(const Request& request, ResponseWriter& out);

/// Sends a whole JSON document. If the request has a jsonp callback, the document is wrapped in the
/// callback. A request with an empty jsonp= gets 500 "Missing callback name", or 400 for /api/tree
/// and for changes of metadata and annotations (opentsdb-http-api.md §4.2). /api/query does not use
/// this function, because it treats an empty jsonp= as absent.
void SendJson(ResponseWriter& out, const Request& request, std::string_view json, int status = 200);

/// Sends a JSON document that may be large. Bytes are sent while `write` is still writing. If
/// `write` fails, the reply is the error (http/request/errors.h). If bytes were already sent, the
/// connection is cut instead. `write` should return early when JsonWriter::alive() is false.
/// `write` may look up names, but must not scan the store: this function, like SendJson, gives up
/// the place of the request in the queue of large queries and ends the time limit of the request.
void StreamJson(ResponseWriter& out, const Request& request,
                const std::function<Status(JsonWriter* json)>& write);

/// Sends a document as StreamJson does. Use this function if `write` scans the store while it
/// writes: the request then keeps its place in the queue of large queries and its time limit until
/// the whole document is sent.
void StreamJsonWhileReading(ResponseWriter& out, const Request& request,
                            const std::function<Status(JsonWriter* json)>& write);

/// Sends a reply that has the given status, Content-Type and body.
void SendBody(ResponseWriter& out, int status, std::string_view content_type,
              std::string_view body);

/// Sends a reply that has neither Content-Type nor body, for example 204 after DELETE, or 304.
void SendEmpty(ResponseWriter& out, int status);

}  // namespace hg::http
