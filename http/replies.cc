#include "http/replies.h"

#include "http/errors.h"
#include "storage/model/letter_case.h"

namespace hg::http {

std::string_view GuessContentType(const Request& request, char first_byte) {
  std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  struct Ending {
    std::string_view ending, type;
  };
  static constexpr Ending kEndings[] = {
      {".png", "image/png"}, {".html", "text/html; charset=UTF-8"},
      {".css", "text/css"},  {".js", "text/javascript"},
      {".gif", "image/gif"}, {".ico", "image/x-icon"},
  };
  for (const auto& [ending, type] : kEndings) {
    if (path.ends_with(ending)) return type;
  }
  switch (first_byte) {
    case '<':
      return "text/html; charset=UTF-8";
    case '{':
    case '[':
      return "application/json";
    case '\x89':
      return "image/png";
    default:
      return "text/plain";
  }
}

std::string_view JsonContentType(const Request& request) {
  if (request.api_version <= 0) return GuessContentType(request, '{');
  return "application/json; charset=UTF-8";
}

std::string_view JsonpCallback(const Request& request) {
  if (request.api_version < 0) return {};
  const std::string* callback = request.parameters.Find("jsonp");
  return callback == nullptr ? std::string_view() : std::string_view(*callback);
}

namespace {

/// Whether OpenTSDB's handler takes an argument that its printer refuses for the client's mistake.
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
  out.SetStatus(status);
  out.SetContentType(JsonContentType(request));
  if (callback.empty()) {
    out.Write(json);
    return;
  }
  out.Write(callback);
  out.Write("(");
  out.Write(json);
  out.Write(")");
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
