#include "http/api/handlers.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_writer.h"

namespace hg::http {
namespace {

/// Returns the value of the setting tsd.mode.
std::string_view ModeName(Mode mode) {
  switch (mode) {
    case Mode::kReadOnly:
      return "ro";
    case Mode::kWriteOnly:
      return "wo";
    case Mode::kReadWrite:
      break;
  }
  return "rw";
}

}  // namespace

void HandleUser(const Request& request, Services& services, ResponseWriter& out) {
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  json.Member("user", request.user);
  json.Key("roles");
  json.BeginArray();
  for (const Role role : {Role::kRead, Role::kWrite, Role::kAdmin}) {
    if (request.roles.Has(role)) json.String(RoleName(role));
  }
  json.EndArray();
  json.Member("mode", ModeName(services.options.mode));
  json.EndObject();
  SendJson(out, request, body);
}

}  // namespace hg::http
