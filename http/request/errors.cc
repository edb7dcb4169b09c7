#include "http/request/errors.h"

#include <string>

#include "http/request/influx_target.h"
#include "http/request/replies.h"
#include "http/wire/json_text.h"
#include "http/wire/json_writer.h"
#include "http/wire/reason_phrase.h"
#include "storage/base/status.h"

namespace hg::http {
namespace {

/// Version 0 and paths outside /api use OpenTSDB's HTML pages.
bool Unversioned(const Request& request) { return request.api_version <= 0; }

void SendJsonError(ResponseWriter& out, const Request& request, int status,
                   const std::string& body) {
  out.SetStatus(status);
  out.SetContentType("application/json; charset=UTF-8");
  std::string_view callback = JsonpCallback(request);
  if (callback.empty()) {
    out.Write(body);
    return;
  }
  out.Write(std::string(callback) + "(" + body + ")");
}

/// Sends an error in the form of InfluxDB. After a status 4xx except 429, InfluxDB's clients drop
/// the points. After 5xx they send the points again.
void SendInfluxError(ResponseWriter& out, InfluxApi api, int status, std::string_view message) {
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  if (api == InfluxApi::kV2) {
    json.Member("code", status == 401   ? "unauthorized"
                        : status == 403 ? "forbidden"
                        : status == 405 ? "method not allowed"
                        : status == 413 ? "request too large"
                        : status == 429 ? "too many requests"
                        : status == 503 ? "unavailable"
                        : status >= 500 ? "internal error"
                                        : "invalid");
    json.Member("message", message);
  } else {
    json.Member("error", message);
  }
  json.EndObject();
  out.SetStatus(status);
  out.SetContentType("application/json");
  out.Write(body);
}

void SendPage(ResponseWriter& out, const Request& request, int status, std::string_view title,
              std::string_view message) {
  out.SetStatus(status);
  std::string body;
  const bool as_json = request.parameters.Has("json");
  if (as_json) {
    JsonWriter json(&body);
    json.BeginObject();
    json.Member("err", message);
    json.EndObject();
  } else {
    body = "<!DOCTYPE html>\n<html><head><title>";
    AppendHtmlEscaped(&body, title);
    body += "</title></head><body><h1>";
    AppendHtmlEscaped(&body, title);
    body += "</h1><p>";
    AppendHtmlEscaped(&body, message);
    body += "</p></body></html>\n";
  }
  out.SetContentType(as_json ? "application/json" : "text/html; charset=UTF-8");
  out.Write(body);
}

/// The time after which a client may repeat a refused write. It is short for every reason, because
/// the client may also delay points that would be accepted.
constexpr std::string_view kRetryAfterS = "1";

}  // namespace

void SendError(ResponseWriter& out, const Request& request, int status,
               std::string_view given_message, std::string_view given_details) {
  if (out.Started()) return out.Cut();
  out.Reset();
  // The message and the details may quote megabytes of the request, and the memory of an error is
  // not charged, so both are shortened.
  const std::string message = ShortMessage(given_message);
  const std::string details = ShortMessage(given_details);
  if (const InfluxApi api = InfluxApiOf(request.target); api != InfluxApi::kNone)
    return SendInfluxError(out, api, status, message);
  if (Unversioned(request)) {
    if (status == 404) return SendPage(out, request, 404, "Page Not Found", message);
    // On unversioned paths, OpenTSDB's own errors are 400, 404 and 500 (opentsdb-http-api.md §6.3).
    // This server also sends the following statuses, because browsers and other HTTP clients react
    // to them, for example with a login dialog or with a later retry.
    const bool unknown_method = status == 405 && request.method == Method::kOther;
    if (status == 401 || status == 403 || status == 415 || status == 429 || status == 503 ||
        unknown_method)
      return SendPage(out, request, status, ReasonPhrase(status), message);
    if (status >= 500) return SendPage(out, request, 500, "Internal Server Error", message);
    return SendPage(out, request, 400, "Bad Request", message);
  }
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  json.Key("error");
  json.BeginObject();
  json.Member("code", status);
  json.Member("message", message);
  if (!details.empty()) json.Member("details", details);
  json.EndObject();
  json.EndObject();
  SendJsonError(out, request, status, body);
}

void SendStatus(ResponseWriter& out, const Request& request, const Status& status) {
  if (out.Started()) return out.Cut();
  if (HttpStatusOf(status.code()) == 503) out.AddHeader("Retry-After", kRetryAfterS);
  SendError(out, request, HttpStatusOf(status.code()), status.message());
}

void SendWriteRefusal(ResponseWriter& out, const Request& request, const Status& status) {
  if (out.Started()) return out.Cut();
  const int http_status = BeginWriteRefusal(out, status);
  SendError(out, request, http_status, status.message());
}

int BeginWriteRefusal(ResponseWriter& out, const Status& status) {
  // The client can send the points of a cancelled request again, so the status is 503.
  const bool ended = status.code() == StatusCode::kDeadlineExceeded;
  const int http_status = status.code() == StatusCode::kLimitExceeded ? 429
                          : ended                                     ? 503
                                                                      : HttpStatusOf(status.code());
  if (http_status == 429 || http_status == 503) out.AddHeader("Retry-After", kRetryAfterS);
  return http_status;
}

void SendNotFound(ResponseWriter& out, const Request& request) {
  if (Unversioned(request)) return SendError(out, request, 404, "Page Not Found");
  // This is the only error reply that an empty jsonp= affects (opentsdb-http-api.md §4.2).
  std::string body = "{\"error\":{\"code\":404,\"message\":\"Endpoint not found\"}}";
  if (request.parameters.Has("jsonp"))
    body = std::string(JsonpCallback(request)) + "(" + body + ")";
  out.Reset();
  out.SetStatus(404);
  out.SetContentType("application/json; charset=UTF-8");
  out.Write(body);
}

void SendMethodNotAllowed(ResponseWriter& out, const Request& request) {
  SendError(out, request, 405, "Method not allowed",
            "The HTTP method [" + request.method_text + "] is not permitted for this endpoint");
}

void SendMissingParameter(ResponseWriter& out, const Request& request, std::string_view name) {
  SendError(out, request, 400, "Missing parameter <code>" + std::string(name) + "</code>");
}

int HttpStatusOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return 200;
    case StatusCode::kNotFound:
      return 404;
    case StatusCode::kInvalidArgument:
    case StatusCode::kConflict:
      return 400;
    case StatusCode::kBusy:
    case StatusCode::kExhausted:
    case StatusCode::kUnavailable:
      return 503;
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kLimitExceeded:
      return 413;
    case StatusCode::kUnsupported:
      return 501;
    case StatusCode::kCorruption:
    case StatusCode::kIoError:
      return 500;
  }
  return 500;
}

}  // namespace hg::http
