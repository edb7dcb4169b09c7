#include "http/api/prom_status.h"

#include <string>

#include "http/build_info.h"
#include "http/wire/json_writer.h"

namespace hg::http {
namespace {

/// The Prometheus release whose language and API are implemented. Clients choose their requests by
/// it.
constexpr std::string_view kSpokenVersion = "3.5.0";

void SendData(std::string_view data, ResponseWriter& out) {
  out.SetContentType("application/json");
  out.Write(R"({"status":"success","data":)" + std::string(data) + "}");
}

}  // namespace

void HandlePromMetadata(const Request&, Services&, ResponseWriter& out) { SendData("{}", out); }

void HandlePromAlerts(const Request&, Services&, ResponseWriter& out) {
  SendData(R"({"alerts":[]})", out);
}

void HandlePromRules(const Request&, Services&, ResponseWriter& out) {
  SendData(R"({"groups":[]})", out);
}

void HandlePromBuildInfo(const Request&, Services&, ResponseWriter& out) {
  const BuildInfo& build = ThisBuild();
  std::string data;
  JsonWriter json(&data);
  json.BeginObject();
  json.Member("version", kSpokenVersion);
  json.Member("revision", build.revision);
  json.Member("branch", build.branch);
  json.Member("application", "Hourglass");
  json.Member("applicationVersion", build.product_version);
  json.EndObject();
  SendData(data, out);
}

}  // namespace hg::http
