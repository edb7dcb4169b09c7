#pragma once
// Error replies, and the table from StatusCode to HTTP status (opentsdb-http-api.md §6). The form
// of an error reply depends on the path: a JSON envelope below /api (wrapped for jsonp), InfluxDB's
// form on its paths, and a page or {"err":…} elsewhere.

#include <string_view>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "storage/base/status.h"

namespace hg::http {

/// Sends an error reply and drops the body that was written so far. If bytes were already sent, the
/// connection is cut, so that the client does not mistake a partial body for a complete one.
/// Unversioned (and /api/v0) paths use 400, 404 and 500, as in OpenTSDB, and 401, 403, 429 and 503,
/// which OpenTSDB does not have. On these paths other 4xx become 400, other 5xx become 500, and
/// `details` is omitted.
void SendError(ResponseWriter& out, const Request& request, int status, std::string_view message,
               std::string_view details = {});

/// Sends the error of a failed call. HttpStatusOf returns the HTTP status; 503 also gets
/// Retry-After. The message is that of `status`, without its code.
void SendStatus(ResponseWriter& out, const Request& request, const Status& status);

/// Like SendStatus, for points that were not stored. LimitExceeded (a write rate limit) becomes
/// 429, and DeadlineExceeded (the request was ended early) becomes 503.
void SendWriteRefusal(ResponseWriter& out, const Request& request, const Status& status);

/// Returns the HTTP status of a rejected write, for endpoints with their own error body. Adds
/// Retry-After to 429 and 503, after which a later retry may succeed.
int BeginWriteRefusal(ResponseWriter& out, const Status& status);

/// Sends 404 for a path without an endpoint: "Endpoint not found" in JSON, or a page.
void SendNotFound(ResponseWriter& out, const Request& request);

/// Sends 405 with the name of the method. On unversioned paths sends 400 instead.
void SendMethodNotAllowed(ResponseWriter& out, const Request& request);

/// Sends 400 "Missing parameter <code>NAME</code>".
void SendMissingParameter(ResponseWriter& out, const Request& request, std::string_view name);

/// Returns the HTTP status for an error. NotFound: 404. InvalidArgument and Conflict: 400. Busy,
/// Exhausted and Unavailable: 503. DeadlineExceeded and LimitExceeded: 413. Unsupported: 501. Other
/// errors: 500.
int HttpStatusOf(StatusCode code);

}  // namespace hg::http
