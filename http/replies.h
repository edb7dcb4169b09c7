#pragma once
// Success replies with the headers of opentsdb-http-api.md §5: Content-Type by API version, and
// jsonp.

#include <functional>
#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response_writer.h"
#include "http/wire/json_writer.h"
#include "storage/base/status.h"

namespace hg::http {

/// The Content-Type of a JSON reply; below /api/v1 it has a charset. The ending of the path does
/// not matter, because the client chooses it.
std::string_view JsonContentType(const Request& request);

/// The callback of jsonp=. "" if it is absent, empty or not a valid name, and on unversioned paths,
/// which ignore it.
std::string_view JsonpCallback(const Request& request);

/// Returns the Content-Type of a JSON reply that is wrapped in the callback if there is one. Every
/// reply has a nosniff header, so browsers run it as a script only if it has a script type. The
/// reply gets that type if the request says which page sent it. The router has already refused
/// pages of other sites.
std::string_view JsonpContentType(const Request& request);

/// Sends 400 if jsonp= has a value that is not a valid callback name. True: a reply was sent.
bool RefuseCallback(const Request& request, ResponseWriter& out);

/// False: jsonp= has no valid name, and an error was sent.
bool RequireCallbackName(const Request& request, ResponseWriter& out);

/// Sends a whole JSON document, wrapped for jsonp. An empty jsonp= gives 500 "Missing callback
/// name"; below tree, and where metadata and annotations are written, 400 (opentsdb-http-api.md
/// §4.2). Endpoints that treat an empty jsonp= as absent (query) write the document themselves.
void SendJson(ResponseWriter& out, const Request& request, std::string_view json, int status = 200);

/// As SendJson, for documents that may be large: bytes are sent while `write` still writes. If
/// `write` fails, the reply is that error (http/errors.h); if bytes were already sent, the
/// connection is cut. `write` should return early when JsonWriter::alive() is false.
void StreamJson(ResponseWriter& out, const Request& request,
                const std::function<Status(JsonWriter* json)>& write);

/// Sends a body of another type.
void SendBody(ResponseWriter& out, int status, std::string_view content_type,
              std::string_view body);

/// Sends a reply without Content-Type and body, for example 204 after DELETE, and 304.
void SendEmpty(ResponseWriter& out, int status);

}  // namespace hg::http
