#pragma once
// Sends error replies, and maps each StatusCode to an HTTP status (opentsdb-http-api.md §6). The
// path of the request determines the form of its error reply. On the paths of InfluxDB, the reply
// has the form of InfluxDB. On all other paths below /api, except /api/v0, the reply is a JSON
// envelope, which is wrapped if the request has a jsonp callback. Elsewhere, the reply is an HTML
// page, or {"err":…} if the request has the parameter `json`.

#include <string_view>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "storage/base/status.h"

namespace hg::http {

/// Sends an error reply and drops the body that was written so far. If bytes were already sent, the
/// connection is closed, so that the client does not mistake a partial body for a complete one.
///
/// On unversioned paths and below /api/v0, the status is 400, 404 or 500, as in OpenTSDB, or one of
/// 401, 403, 415, 429 and 503, which OpenTSDB does not send. On these paths, any other 4xx status
/// becomes 400, any other 5xx status becomes 500, and `details` is omitted. There are two
/// exceptions: 405 stays 405 if the method is Method::kOther, and the paths of InfluxDB keep every
/// status. Long messages and details are shortened.
void SendError(ResponseWriter& out, const Request& request, int status, std::string_view message,
               std::string_view details = {});

/// Sends the error reply for a failed call. The HTTP status is that of HttpStatusOf; a 503 reply
/// also has the header Retry-After. The message is that of `status`, without its code.
void SendStatus(ResponseWriter& out, const Request& request, const Status& status);

/// Sends the error reply for points that were not stored. The reply is that of SendStatus with two
/// exceptions: LimitExceeded (a write rate limit) becomes 429, and DeadlineExceeded (the request
/// was ended early) becomes 503.
void SendWriteRefusal(ResponseWriter& out, const Request& request, const Status& status);

/// Returns the HTTP status for a rejected write, for endpoints whose error replies have their own
/// body. A retry may succeed after 429 and 503, so the function adds the header Retry-After for
/// these statuses.
int BeginWriteRefusal(ResponseWriter& out, const Status& status);

/// Sends 404 for a path that has no endpoint. The reply is "Endpoint not found" in JSON, or a page.
void SendNotFound(ResponseWriter& out, const Request& request);

/// Sends 405 with the name of the method in the details of the reply. The status is 400 instead on
/// the paths on which SendError changes 405 to 400.
void SendMethodNotAllowed(ResponseWriter& out, const Request& request);

/// Sends 400 with the message "Missing parameter <code>NAME</code>".
void SendMissingParameter(ResponseWriter& out, const Request& request, std::string_view name);

/// Returns the HTTP status for an error code. NotFound: 404. InvalidArgument and Conflict: 400.
/// Busy, Exhausted and Unavailable: 503. DeadlineExceeded and LimitExceeded: 413. Unsupported: 501.
/// All other errors: 500.
int HttpStatusOf(StatusCode code);

}  // namespace hg::http
