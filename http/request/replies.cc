#include "http/request/replies.h"

#include <algorithm>

#include "http/access/cross_site.h"
#include "http/request/errors.h"
#include "query/request/running_request.h"
#include "storage/model/letter_case.h"

namespace hg::http {

std::string_view JsonContentType(const Request& request) {
  if (request.api_version <= 0) return "application/json";
  return "application/json; charset=UTF-8";
}

namespace {

/// Returns true for the name of a JavaScript function or member, without any other syntax.
bool IsCallbackName(std::string_view name) {
  constexpr size_t kCallbackBytesMax = 128;
  return !name.empty() && name.size() <= kCallbackBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '.' || c == '$';
         });
}

}  // namespace

std::string_view JsonpCallback(const Request& request) {
  if (request.api_version < 0) return {};
  const std::string* callback = request.parameters.Find("jsonp");
  return callback != nullptr && IsCallbackName(*callback) ? std::string_view(*callback)
                                                          : std::string_view();
}

std::string_view JsonpContentType(const Request& request) {
  if (!JsonpCallback(request).empty() && TellsOfPage(request))
    return "text/javascript; charset=UTF-8";
  return JsonContentType(request);
}

bool RefuseCallback(const Request& request, ResponseWriter& out) {
  if (request.api_version < 0) return false;
  const std::string* callback = request.parameters.Find("jsonp");
  if (callback == nullptr || callback->empty() || IsCallbackName(*callback)) return false;
  SendError(out, request, 400,
            "Invalid value for 'jsonp': a name of 1 to 128 characters of A-Z, a-z, 0-9, '_', '.' "
            "and '$' is expected");
  return true;
}

namespace {

/// Returns true if OpenTSDB's handler of the request catches the exception for a missing callback
/// name. The status of the error is then 400 instead of 500.
bool ArgumentsAreCaught(const Request& request) {
  const std::string endpoint = request.Endpoint(), part = request.Segment(1);
  if (endpoint == "tree") return true;
  const std::string* override = request.parameters.Find("method_override");
  const bool writes =
      request.method != Method::kGet || (override != nullptr && LowerCase(*override) != "get");
  if (endpoint == "annotation" || endpoint == "annotations") return writes;
  if (endpoint != "uid") return false;
  if (part == "uidmeta") return writes;
  return part == "tsmeta" && (writes || !request.parameters.Has("tsuid"));
}

}  // namespace

bool RequireCallbackName(const Request& request, ResponseWriter& out) {
  if (request.api_version < 0 || !request.parameters.Has("jsonp")) return true;
  if (!JsonpCallback(request).empty()) return true;
  constexpr std::string_view kMissing = "Missing callback name";
  if (ArgumentsAreCaught(request)) {
    SendError(out, request, 400, kMissing, kMissing);
  } else {
    SendError(out, request, 500, kMissing);
  }
  return false;
}

void SendJson(ResponseWriter& out, const Request& request, std::string_view json, int status) {
  if (!RequireCallbackName(request, out)) return;
  const std::string_view callback = JsonpCallback(request);
  // The query leaves the queue of large queries now, so that a slow client does not make other
  // queries wait.
  if (request.running != nullptr) request.running->BeginAnswer();
  out.SetStatus(status);
  out.SetContentType(JsonpContentType(request));
  if (callback.empty()) {
    out.Write(json);
    return;
  }
  out.Write(callback);
  out.Write("(");
  out.Write(json);
  out.Write(")");
}

void StreamJson(ResponseWriter& out, const Request& request,
                const std::function<Status(JsonWriter* json)>& write) {
  if (request.running != nullptr) request.running->BeginAnswer();
  StreamJsonWhileReading(out, request, write);
}

void StreamJsonWhileReading(ResponseWriter& out, const Request& request,
                            const std::function<Status(JsonWriter* json)>& write) {
  if (!RequireCallbackName(request, out)) return;
  out.SetContentType(JsonpContentType(request));
  const std::string callback(JsonpCallback(request));
  JsonWriter json(&out);
  if (!callback.empty()) json.Text(callback + "(");
  const Status status = write(&json);
  if (!status.ok()) return SendStatus(out, request, status);
  if (!callback.empty()) json.Text(")");
  json.Finish();
}

void SendBody(ResponseWriter& out, int status, std::string_view content_type,
              std::string_view body) {
  out.SetStatus(status);
  out.SetContentType(content_type);
  out.Write(body);
}

void SendEmpty(ResponseWriter& out, int status) {
  out.Reset();
  out.SetStatus(status);
  out.SetContentType("");
}

}  // namespace hg::http
