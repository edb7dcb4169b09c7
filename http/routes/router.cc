#include "http/routes/router.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string>

#include "http/access/access.h"
#include "http/access/cross_site.h"
#include "http/request/errors.h"
#include "http/request/influx_target.h"
#include "http/request/replies.h"
#include "http/routes/endpoints.h"
#include "http/wire/percent.h"
#include "query/engine.h"
#include "query/request/running_request.h"
#include "storage/model/letter_case.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

constexpr int kApiVersionMax = 1;

/// Returns true if the segment begins with "v" and a digit. OpenTSDB treats such a segment as a
/// version, even if it is malformed.
bool LooksLikeVersion(std::string_view segment) {
  return segment.size() >= 2 && LowerCase(segment[0]) == 'v' && segment[1] >= '0' &&
         segment[1] <= '9';
}

/// Sends an error if the version segment is invalid. Returns true if a reply was sent.
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

/// Returns the methods of an endpoint as the field `Allow` of a response lists them.
std::string AllowedMethods(const Endpoint& endpoint) {
  if (endpoint.verbs == kAny) return "GET, HEAD, OPTIONS";
  std::string text;
  if ((endpoint.verbs & kGet) != 0) text += "GET, ";
  if ((endpoint.verbs & kPost) != 0) text += "POST, ";
  if ((endpoint.verbs & kDelete) != 0) text += "DELETE, ";
  return text + "OPTIONS";
}

/// Returns true for the paths of products other than OpenTSDB. Some endpoints of Prometheus have
/// the same names as endpoints of OpenTSDB's API. Their paths are those with the version 1.
bool IsOfAnotherProduct(const Request& request, const Endpoint& endpoint) {
  if (endpoint.place != Place::kApi)
    return endpoint.place == Place::kPath || endpoint.place == Place::kWatch;
  constexpr std::array<std::string_view, 7> kNames = {"label", "labels", "query", "query_range",
                                                      "read",  "series", "write"};
  return request.target.starts_with("/api/v1/") &&
         std::find(kNames.begin(), kNames.end(), endpoint.name) != kNames.end();
}

/// Handles, for any path, OPTIONS requests and requests from origins that are not allowed.
/// `endpoint` may be null. Returns true if a reply was sent.
bool AnswerCors(const Request& request, const Endpoint* endpoint, Services& services,
                ResponseWriter& out) {
  const std::string* origin = request.Header("origin");
  bool cors = origin != nullptr && !origin->empty() && !services.options.cors_domains.empty() &&
              !IsOwnOrigin(request, *origin);
  if (!cors) {
    if (request.method != Method::kOptions) return false;
    // Prometheus answers OPTIONS requests without CORS headers. OpenTSDB refuses them.
    if (endpoint != nullptr && IsOfAnotherProduct(request, *endpoint)) {
      SendEmpty(out, 204);
      out.AddHeader("Allow", AllowedMethods(*endpoint));
      return true;
    }
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

namespace {

/// Removes the prefix "/prometheus" from a path of Prometheus, and "/influx" from a path of
/// InfluxDB. Clients send these prefixes because some servers serve several products.
void RemovePrefix(std::string* target) {
  if (InfluxApiOf(*target) != InfluxApi::kNone && target->starts_with(kInfluxPrefix))
    target->erase(0, kInfluxPrefix.size());
  constexpr std::string_view kPrefix = "/prometheus";
  if (!target->starts_with(kPrefix)) return;
  const std::string_view rest = std::string_view(*target).substr(kPrefix.size());
  for (const std::string_view path : {"/api/v1/", "/federate", "/-/"}) {
    if (!rest.starts_with(path)) continue;
    target->erase(0, kPrefix.size());
    return;
  }
}

}  // namespace

bool ParseTarget(Request* request) {
  RemovePrefix(&request->target);
  std::string_view target = request->target;
  size_t question = target.find('?');
  std::string_view path = target.substr(0, question);
  if (!path.empty()) path.remove_prefix(1);
  for (;;) {
    size_t slash = path.find('/');
    // Error messages repeat the path; bytes that are not UTF-8 would make their JSON invalid.
    ReplaceInvalidUtf8(&request->segments.emplace_back(path.substr(0, slash)));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  request->endpoint_index = 0;
  request->api_version = -1;
  if (EqualIgnoringCase(request->segments[0], "api")) {
    bool versioned = request->segments.size() > 1 && LooksLikeVersion(request->segments[1]);
    request->endpoint_index = versioned ? 2 : 1;
    // If the version is invalid, errors use the form of the newest version.
    request->api_version =
        versioned && request->segments[1].find_first_not_of('0', 1) == std::string::npos ? 0 : 1;
  }
  if (question == std::string_view::npos) return true;
  return ParseQueryString(target.substr(question + 1), &request->parameters, request->memory);
}

bool IsPluginPath(std::string_view target) {
  constexpr std::string_view kPrefix = "/plugin/";
  return EqualIgnoringCase(target.substr(0, std::min(target.find('?'), kPrefix.size())), kPrefix);
}

namespace {

/// Returns true if browsers add the credentials of the request by themselves, even for pages of
/// other sites. They do so for stored passwords and certificates. Only scripts add tokens.
bool BrowsersSayIt(const Request& request) {
  constexpr std::string_view kBasic = "basic";
  const std::string* field = request.Header("authorization");
  return field == nullptr || field->empty() ||
         EqualIgnoringCase(std::string_view(*field).substr(0, kBasic.size()), kBasic);
}

/// Returns true for requests that need the role write or admin although they change nothing. Pages
/// of other sites may link to them.
bool OnlyShows(const Request& request) {
  if (request.method != Method::kGet && request.method != Method::kHead) return false;
  if (request.api_version >= 0) return false;
  const std::string endpoint = request.Endpoint();
  if (endpoint == "query") {  // InfluxDB's SHOW changes nothing; CREATE adds a database
    const std::string* const statement = request.parameters.Find("q");
    constexpr std::string_view kShow = "SHOW ";
    return statement != nullptr &&
           EqualIgnoringCase(std::string_view(*statement).substr(0, kShow.size()), kShow);
  }
  return endpoint == "logs" && !request.parameters.Has("level");
}

/// Returns the reason for refusing a request that a web page sent. Returns "" if the request is
/// allowed, or if no page sent it.
std::string RefusalOfPage(const Request& request, Role needed, const Services& services) {
  const Options& options = services.options;
  const bool guarded = services.access != nullptr;
  const bool changes = (needed == Role::kWrite || needed == Role::kAdmin) && !OnlyShows(request);
  std::string site;
  if (changes) {
    // "*" in the list does not allow changes that the browser's own credentials authorize.
    const bool star = !guarded || !BrowsersSayIt(request);
    site = ForeignSite(request, options, star ? Star::kOrigins : Star::kNobody);
  }
  if (site.empty() && !JsonpCallback(request).empty() && !IsListedOrigin("*", options))
    site = ForeignSite(request, options, Star::kNobody);
  if (!site.empty()) {
    return "A page of another site may not send this request (" + site +
           "); allowed sites are listed in tsd.http.request.cors_domains";
  }
  // A page of any site could load the response as a script and read it.
  if (guarded && request.api_version >= 0 && request.parameters.Has("jsonp"))
    return "JSONP is disabled, because authentication is enabled";
  return {};
}

}  // namespace

bool RefuseAccess(const Request& request, Role needed, Services& services, ResponseWriter& out) {
  if (!request.roles.Has(needed)) {
    SendNoAccess(request, needed, services, out);
    return true;
  }
  const std::string refusal = RefusalOfPage(request, needed, services);
  if (refusal.empty()) return false;
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

// Reports a refusal. Requests without credentials are not reported, because browsers send no
// credentials before they get status 401.
void TellOfRefusal(const Request& request, int status, Services& services) {
  if (services.access == nullptr) return;
  const bool in_header = request.Header("authorization") != nullptr;
  const bool in_target = InfluxCredentials(request.target).kind != Credentials::Kind::kNone;
  if (status == 401 && !in_header && !in_target) return;
  const std::string_view target = request.target;
  services.access->TellRefused({request.remote, VerbOf(request.method),
                                target.substr(0, target.find('?')), request.user, status});
}

}  // namespace

void SendNoAccess(const Request& request, Role needed, Services& services, ResponseWriter& out) {
  TellOfRefusal(request, request.user.empty() ? 401 : 403, services);
  if (request.user.empty()) {
    services.counters.unauthorized_http.fetch_add(1, std::memory_order_relaxed);
    // Browsers use only the first of these fields, so they ask for a name and a password.
    out.AddHeader("WWW-Authenticate", "Basic realm=\"Hourglass\", charset=\"UTF-8\"");
    out.AddHeader("WWW-Authenticate", "Bearer realm=\"Hourglass\"");
    return SendError(out, request, 401, "A name and password, or a token, are required");
  }
  services.counters.forbidden_http.fetch_add(1, std::memory_order_relaxed);
  SendError(out, request, 403,
            "The user " + request.user + " lacks the role " + std::string(RoleName(needed)));
}

bool MayAnswerOnLoop(const Request& request, const Options& options) {
  const Endpoint* const endpoint = FindEndpoint(request, options);
  return endpoint != nullptr && endpoint->where == Where::kLoop;
}

namespace {

/// The path in the name of a running request is cut after about this many bytes.
constexpr size_t kShownPathBytesMax = 128;
/// Maximum work of a request on an event loop: some hundreds of microseconds.
constexpr uint64_t kStepsOnLoop = 1 << 16;
/// A write continues for this time after its client has closed the connection.
constexpr int64_t kWriteGraceMs = 250;
/// A write with a larger body counts as long from its beginning, because the daemon may parse many
/// megabytes for seconds before it first checks how long the write has run.
constexpr size_t kLongBodyBytes = 1 << 20;

}  // namespace

std::unique_ptr<query::RunningRequest> BeginRequest(const Request& request, bool writes,
                                                    Services& services, ResponseWriter& out) {
  std::string endpoint(VerbOf(request.method));
  for (size_t i = 0; i < request.segments.size() && endpoint.size() < kShownPathBytesMax; ++i) {
    endpoint += i == 0 ? " /" : "/";
    endpoint.append(request.segments[i], 0, kShownPathBytesMax);
  }
  query::RequestClient client;
  client.remote = request.remote;
  client.user = request.user;
  client.gone = [&out] { return out.Cancelled(); };
  client.takes_long = [&out] { out.TakesLong(); };
  // If the response has not started, it is not cut, because the handler sends an error instead.
  client.cut = [&out] {
    if (out.Started()) out.Cut();
  };
  auto running = services.queries.running().Begin(std::move(endpoint), std::move(client));
  if (request.on_loop) running->TryOnLoop(kStepsOnLoop);
  if (writes) running->BecomeWrite(kWriteGraceMs);
  if (writes && !request.on_loop && request.body.size() > kLongBodyBytes) running->TakeLong();
  return running;
}

void Dispatch(Request& request, Services& services, ResponseWriter& out) {
  if (RefuseCallback(request, out)) return;
  const Endpoint* const endpoint = FindEndpoint(request, services.options);
  // Paths of other products have no versions and serializers, even if this mode does not have them.
  if (endpoint == nullptr ? !IsWholePath(request)
                          : endpoint->place == Place::kApi || endpoint->place == Place::kRoot) {
    if (request.api_version >= 0 && RefuseVersion(request, out)) return;
    if (RefuseSerializer(request, out)) return;
  }
  if (AnswerCors(request, endpoint, services, out)) return;
  if (IsPluginPath(request.target)) {
    SendEmpty(out, 404);
    return;
  }
  if (endpoint == nullptr) return SendNotFound(out, request);
  if (endpoint->verbs != kAny && (endpoint->verbs & VerbBit(request.method)) == 0) {
    return SendMethodNotAllowed(out, request);
  }
  // Other methods, such as TRACE, get status 405. Below /api, the handler responds to them, as in
  // OpenTSDB.
  if (request.method == Method::kOther && endpoint->place != Place::kApi)
    return SendMethodNotAllowed(out, request);
  const Role role = endpoint->role(request);
  if (RefuseAccess(request, role, services, out)) return;
  const std::unique_ptr<query::RunningRequest> running =
      BeginRequest(request, role == Role::kWrite, services, out);
  // Ends the request, even if the handler throws.
  struct Ending {
    ~Ending() {
      request.running = nullptr;
      request.refused = running.refused();
      if (request.refused) running.Withdraw();
    }
    Request& request;
    query::RunningRequest& running;
  } const ending{request, *running};
  request.running = running.get();
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
