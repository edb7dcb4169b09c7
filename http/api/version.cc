#include "http/api/handlers.h"
#include "http/request/build_info.h"
#include "http/request/replies.h"
#include "http/wire/json_writer.h"

namespace hg::http {
namespace {

std::string VersionJson() {
  const BuildInfo& build = ThisBuild();
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  json.Member("short_revision", build.short_revision);
  json.Member("repo", build.repository);
  json.Member("host", build.host);
  json.Member("version", build.version);
  json.Member("full_revision", build.revision);
  json.Member("repo_status", build.status);
  json.Member("user", build.user);
  json.Member("branch", build.branch);
  json.Member("timestamp", build.timestamp_s);
  json.EndObject();
  return body;
}

}  // namespace

void HandleVersion(const Request& request, Services&, ResponseWriter& out) {
  // /api/v0 answers like the paths outside /api.
  if (request.api_version > 0 || request.parameters.Has("json"))
    return SendJson(out, request, VersionJson());
  SendBody(out, 200, "text/plain", BuildText());
}

}  // namespace hg::http
