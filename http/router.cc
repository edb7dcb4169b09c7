#include "http/router.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "http/access/access.h"
#include "http/endpoints.h"
#include "http/errors.h"
#include "http/replies.h"
#include "http/wire/percent.h"
#include "storage/model/letter_case.h"
#include "storage/model/utf8.h"
#include "storage/model/writer.h"

namespace hg::http {
namespace {

constexpr int kApiVersionMax = 1;

/// "v" and a digit: what OpenTSDB takes for a version, well-formed or not.
bool LooksLikeVersion(std::string_view segment) {
  return segment.size() >= 2 && LowerCase(segment[0]) == 'v' && segment[1] >= '0' &&
         segment[1] <= '9';
}

/// Answers what is wrong with the version segment, if anything.
bool RefuseVersion(const Request& request, ResponseWriter& out) {
  if (request.segments.size() < 2 || request.endpoint_index != 2) return false;
  std::string_view digits = std::string_view(request.segments[1]).substr(1);
  int version = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    SendError(out, request, 400, "Invalid API version format supplied",
              "API version [" + std::string(digits) + "] cannot be parsed to an integer");
    return true;
  }
  if (version <= kApiVersionMax) return false;
  SendError(out, request, 501, "Requested API version is greater than the max implemented",
            "API version [" + std::to_string(version) + "] is greater than the max [" +
                std::to_string(kApiVersionMax) + "]");
  return true;
}

bool RefuseSerializer(const Request& request, ResponseWriter& out) {
  const std::string* serializer = request.parameters.Find("serializer");
  if (serializer == nullptr || *serializer == "json") return false;
  SendError(out, request, 400, "Requested serializer was not found",
            "Could not find a serializer with the name: " + *serializer);
  return true;
}

uint8_t VerbBit(Method method) {
  switch (method) {
    case Method::kGet:
      return kGet;
    case Method::kPost:
      return kPost;
    case Method::kPut:
      return kPut;
    case Method::kDelete:
      return kDelete;
    default:
      return 0;
  }
}

/// The page of this very server: it may, whatever other domains are let in.
bool IsOwnOrigin(const Request& request, std::string_view origin) {
  const std::string* host = request.Header("host");
  if (host == nullptr) return false;
  for (std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme) && EqualIgnoringCase(origin.substr(scheme.size()), *host))
      return true;
  }
  return false;
}

/// One of tsd.http.request.cors_domains by its name.
bool IsNamedOrigin(std::string_view origin, const Options& options) {
  return std::any_of(options.cors_domains.begin(), options.cors_domains.end(),
                     [&](const std::string& domain) { return EqualIgnoringCase(domain, origin); });
}

/// The same, or all are let in.
bool IsListedOrigin(std::string_view origin, const Options& options) {
  return IsNamedOrigin(origin, options) || IsNamedOrigin("*", options);
}

/// OPTIONS, and foreign origins: answered whatever the path is. True: answered.
bool AnswerCors(const Request& request, Services& services, ResponseWriter& out) {
  const std::string* origin = request.Header("origin");
  bool cors = origin != nullptr && !origin->empty() && !services.options.cors_domains.empty() &&
              !IsOwnOrigin(request, *origin);
  if (!cors) {
    if (request.method != Method::kOptions) return false;
    SendError(out, request, 405, "Method not allowed",
              "The HTTP method [" + request.method_text + "] is not permitted");
    return true;
  }
  if (!AddCorsHeaders(request, services.options, out)) {
    SendError(out, request, 200, "CORS domain not allowed",
              "The domain [" + *origin + "] is not permitted access");
    return true;
  }
  if (request.method != Method::kOptions) return false;
  SendEmpty(out, 200);
  return true;
}

}  // namespace

Method MethodOf(std::string_view verb) {
  if (verb == "GET") return Method::kGet;
  if (verb == "POST") return Method::kPost;
  if (verb == "PUT") return Method::kPut;
  if (verb == "DELETE") return Method::kDelete;
  if (verb == "OPTIONS") return Method::kOptions;
  if (verb == "HEAD") return Method::kHead;
  return Method::kOther;
}

bool ParseTarget(Request* request) {
  std::string_view target = request->target;
  size_t question = target.find('?');
  std::string_view path = target.substr(0, question);
  if (!path.empty()) path.remove_prefix(1);
  for (;;) {
    size_t slash = path.find('/');
    // Errors name what was asked for: what is no UTF-8 would spoil their JSON.
    ReplaceInvalidUtf8(&request->segments.emplace_back(path.substr(0, slash)));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  request->endpoint_index = 0;
  request->api_version = -1;
  if (EqualIgnoringCase(request->segments[0], "api")) {
    bool versioned = request->segments.size() > 1 && LooksLikeVersion(request->segments[1]);
    request->endpoint_index = versioned ? 2 : 1;
    // A version that cannot be is refused in the newest form.
    request->api_version =
        versioned && request->segments[1].find_first_not_of('0', 1) == std::string::npos ? 0 : 1;
  }
  if (question == std::string_view::npos) return true;
  return ParseQueryString(target.substr(question + 1), &request->parameters);
}

bool IsPluginPath(std::string_view target) {
  constexpr std::string_view kPrefix = "/plugin/";
  return EqualIgnoringCase(target.substr(0, std::min(target.find('?'), kPrefix.size())), kPrefix);
}

namespace {

/// Whether a browser says who its user is by itself, whatever page asks: by the password that it
/// keeps, or a certificate. Tokens are sent by scripts that know them.
bool BrowsersSayIt(const Request& request) {
  constexpr std::string_view kBasic = "basic";
  const std::string* field = request.Header("authorization");
  return field == nullptr || field->empty() ||
         EqualIgnoringCase(std::string_view(*field).substr(0, kBasic.size()), kBasic);
}

/// Of what only writers and administrators may ask for by GET: what changes nothing.
bool OnlyShows(const Request& request) {
  const std::string endpoint = request.Endpoint();
  if (request.api_version >= 0) return endpoint == "admin";
  return endpoint == "query" || (endpoint == "logs" && !request.parameters.Has("level"));
}

/// A page of another site, which a browser shows to somebody who has given it his password for this
/// one: it may read what CORS lets it read, and change nothing.
bool FromAnotherSite(const Request& request, const Options& options) {
  const std::string* origin = request.Header("origin");
  if (origin != nullptr && !origin->empty()) {
    if (IsOwnOrigin(request, *origin) || IsNamedOrigin(*origin, options)) return false;
    return BrowsersSayIt(request) || !IsListedOrigin(*origin, options);
  }
  const std::string* site = request.Header("sec-fetch-site");
  if (site != nullptr) return *site != "same-origin" && *site != "none";
  // With GET, of an image or a link, browsers name no origin, and nothing else over plain HTTP.
  if (request.method != Method::kGet && request.method != Method::kHead) return false;
  const std::string* program = request.Header("user-agent");
  const bool browser = program != nullptr && program->find("Mozilla/") != std::string::npos;
  return browser && BrowsersSayIt(request) && !OnlyShows(request);
}

}  // namespace

bool RefuseAccess(const Request& request, Role needed, Services& services, ResponseWriter& out) {
  if (!request.roles.Has(needed)) {
    SendNoAccess(request, needed, services, out);
    return true;
  }
  if (services.access == nullptr) return false;
  const char* refusal = nullptr;
  const bool changes = needed == Role::kWrite || needed == Role::kAdmin;
  if (changes && FromAnotherSite(request, services.options)) {
    refusal =
        "Not for pages of another site, and by GET not for browsers without TLS, as they do not "
        "tell whose page asks";
  } else if (request.api_version >= 0 && request.parameters.Has("jsonp")) {
    // A script of any site may name it as its source, and read what comes.
    refusal = "No jsonp where users say who they are";
  }
  if (refusal == nullptr) return false;
  services.counters.forbidden_http.fetch_add(1, std::memory_order_relaxed);
  SendError(out, request, 403, refusal);
  return true;
}

namespace {

std::string_view VerbOf(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kDelete:
      return "DELETE";
    case Method::kOptions:
      return "OPTIONS";
    case Method::kHead:
      return "HEAD";
    case Method::kOther:
      break;
  }
  return "another";
}

// Who says nothing of himself is asked for it, as browsers are each time.
void TellOfRefusal(const Request& request, int status, Services& services) {
  if (services.access == nullptr) return;
  if (status == 401 && request.Header("authorization") == nullptr) return;
  const std::string_view target = request.target;
  services.access->TellRefused({request.remote, VerbOf(request.method),
                                target.substr(0, target.find('?')), request.user, status});
}

}  // namespace

void SendNoAccess(const Request& request, Role needed, Services& services, ResponseWriter& out) {
  TellOfRefusal(request, request.user.empty() ? 401 : 403, services);
  if (request.user.empty()) {
    services.counters.unauthorized_http.fetch_add(1, std::memory_order_relaxed);
    // Browsers ask for name and password when they see the first, and try no other.
    out.AddHeader("WWW-Authenticate", "Basic realm=\"Hourglass\", charset=\"UTF-8\"");
    out.AddHeader("WWW-Authenticate", "Bearer realm=\"Hourglass\"");
    return SendError(out, request, 401, "Name and password, or a token, are needed");
  }
  services.counters.forbidden_http.fetch_add(1, std::memory_order_relaxed);
  SendError(out, request, 403,
            "The user " + request.user + " lacks the role " + std::string(RoleName(needed)));
}

bool MayAnswerOnLoop(const Request& request, const Options& options) {
  const Endpoint* const endpoint = FindEndpoint(request, options);
  return endpoint != nullptr && endpoint->where == Where::kLoop;
}

void Dispatch(const Request& request, Services& services, ResponseWriter& out) {
  // No answer is a script for pages of another site.
  if (services.access != nullptr && request.api_version >= 0)
    out.AddHeader("X-Content-Type-Options", "nosniff");
  const Endpoint* const endpoint = FindEndpoint(request, services.options);
  // Other products' paths have no versions and serializers.
  if (endpoint == nullptr || endpoint->place != Place::kPath) {
    if (request.api_version >= 0 && RefuseVersion(request, out)) return;
    if (RefuseSerializer(request, out)) return;
  }
  if (AnswerCors(request, services, out)) return;
  if (IsPluginPath(request.target)) {
    SendEmpty(out, 404);
    return;
  }
  if (endpoint == nullptr) return SendNotFound(out, request);
  if (endpoint->verbs != kAny && (endpoint->verbs & VerbBit(request.method)) == 0) {
    return SendMethodNotAllowed(out, request);
  }
  if (RefuseAccess(request, endpoint->role(request), services, out)) return;
  const Writer::ActingFor acting(request.writer.get());
  endpoint->handler(request, services, out);
}

bool AddCorsHeaders(const Request& request, const Options& options, ResponseWriter& out) {
  const std::string* origin = request.Header("origin");
  if (origin == nullptr || origin->empty() || options.cors_domains.empty()) return true;
  if (!IsListedOrigin(*origin, options)) return false;
  out.AddHeader("Access-Control-Allow-Origin", *origin);
  out.AddHeader("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE");
  out.AddHeader("Access-Control-Allow-Headers", options.cors_headers);
  return true;
}

}  // namespace hg::http
