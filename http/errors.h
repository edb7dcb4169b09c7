#pragma once
// Error replies, and the one table from StatusCode to HTTP status (spec http-api.md §6).
// The form follows the request: the JSON envelope below /api (wrapped for jsonp), InfluxDB's on its
// paths, a page or {"err":…} elsewhere.

#include <string_view>

#include "http/request.h"
#include "http/response_writer.h"
#include "storage/base/status.h"

namespace hg::http {

/// Sends an error, dropping what was written so far; if bytes have left already, nothing can be
/// said any more. Unversioned (and /api/v0) paths know 400, 404 and 500 only, and what OpenTSDB has
/// no answer for, 401, 403 and 429: other 4xx become 400, other 5xx 500; `details` is not shown
/// there.
void SendError(ResponseWriter& out, const Request& request, int status, std::string_view message,
               std::string_view details = {});

/// The same for a failed call: the code decides the HTTP status (HttpStatusOf), the message is the
/// Status's, without the code's name. Busy and Unavailable add Retry-After.
void SendStatus(ResponseWriter& out, const Request& request, const Status& status);

/// The same for points that are not taken now: LimitExceeded is a rate of theirs, and 429.
void SendWriteRefusal(ResponseWriter& out, const Request& request, const Status& status);

/// The HTTP status of such a refusal, where its body has a form of its own. Adds Retry-After where
/// the same points may be taken later (429, 503).
int BeginWriteRefusal(ResponseWriter& out, const Status& status);

/// 404 for a path without an endpoint: "Endpoint not found" or the page.
void SendNotFound(ResponseWriter& out, const Request& request);

/// 405 that names the verb; 400 on unversioned paths.
void SendMethodNotAllowed(ResponseWriter& out, const Request& request);

/// 400 "Missing parameter <code>NAME</code>".
void SendMissingParameter(ResponseWriter& out, const Request& request, std::string_view name);

/// notfound 404, invalid argument and conflict 400, busy and unavailable 503, deadline and limit
/// 413, else 500.
int HttpStatusOf(StatusCode code);

}  // namespace hg::http
