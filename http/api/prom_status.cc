#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include "http/api/handlers.h"
#include "http/api/process_stats.h"
#include "http/api/prom_request.h"
#include "http/request/build_info.h"
#include "http/request/errors.h"
#include "http/wire/json_writer.h"

namespace hg::http {
namespace {

/// The Prometheus release whose language and API are implemented. Clients choose their requests by
/// it.
constexpr std::string_view kSpokenVersion = "3.5.0";

/// A path below /api/v1 that always returns the same text.
struct Nothing {
  std::string_view path, data;
};
constexpr Nothing kNothing[] = {
    {"alertmanagers", R"({"activeAlertmanagers":[],"droppedAlertmanagers":[]})"},
    {"alerts", R"({"alerts":[]})"},
    {"rules", R"({"groups":[]})"},
    {"scrape_pools", R"({"scrapePools":[]})"},
    {"targets", R"({"activeTargets":[],"droppedTargets":[],"droppedTargetCounts":{}})"},
    {"targets/metadata", "[]"},
};

/// Returns a time in RFC 3339 form, in UTC with milliseconds.
std::string TimeText(int64_t ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(ms)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  char text[64];
  std::snprintf(text, sizeof(text), "%04d-%02u-%02uT%02ld:%02ld:%02ld.%03ldZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                clock.seconds().count(), clock.subseconds().count());
  return text;
}

}  // namespace

void HandlePromNothing(const Request& request, Services&, ResponseWriter& out) {
  constexpr std::string_view kPrefix = "/api/v1/";
  const std::string_view target = request.target;
  std::string_view path = target.substr(0, target.find('?')).substr(kPrefix.size());
  if (path.ends_with('/')) path.remove_suffix(1);
  for (const Nothing& nothing : kNothing) {
    if (nothing.path == path) return SendPromData(out, nothing.data);
  }
  SendNotFound(out, request);
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
  SendPromData(out, data);
}

void HandlePromConfig(const Request&, Services& services, ResponseWriter& out) {
  std::string yaml, data;
  // A JSON string is also a valid quoted string of YAML.
  for (const auto& [name, value] : services.settings) {
    yaml += name + ": ";
    JsonWriter(&yaml).String(value);
    yaml += "\n";
  }
  JsonWriter json(&data);
  json.BeginObject();
  json.Member("yaml", yaml);
  json.EndObject();
  SendPromData(out, data);
}

void HandlePromFlags(const Request&, Services& services, ResponseWriter& out) {
  std::string data;
  JsonWriter json(&data);
  json.BeginObject();
  for (const auto& [name, value] : services.settings) json.Member(name, value);
  json.EndObject();
  SendPromData(out, data);
}

void HandlePromRuntimeInfo(const Request&, Services& services, ResponseWriter& out) {
  const ProcessStats process = ReadProcessStats();
  const auto setting = [&services](const char* name) {
    const auto found = services.settings.find(name);
    return found == services.settings.end() ? std::string() : found->second;
  };
  const std::string ttl_s = setting("tsd.storage.ttl");
  const std::string start = TimeText(static_cast<int64_t>(process.start_time_s * 1000));
  std::error_code no_folder;
  char host[256] = "";
  (void)::gethostname(host, sizeof(host) - 1);
  std::string data;
  JsonWriter json(&data);
  json.BeginObject();
  json.Member("startTime", start);
  json.Member("CWD", std::filesystem::current_path(no_folder).string());
  json.Member("hostname", host);
  json.Member("serverTime", TimeText(services.clock.NowMs()));
  json.Member("reloadConfigSuccess", true);
  json.Member("lastConfigTime", start);
  json.Member("corruptionCount", 0);
  // Hourglass reports its threads and cores in the members for Go's runtime.
  json.Member("goroutineCount", static_cast<int64_t>(process.threads.size()));
  json.Member("GOMAXPROCS", static_cast<int64_t>(std::thread::hardware_concurrency()));
  json.Member("GOMEMLIMIT", int64_t{0});
  json.Member("GOGC", "");
  json.Member("GODEBUG", "");
  json.Member("storageRetention", ttl_s.empty() ? "" : ttl_s + "s");
  json.EndObject();
  SendPromData(out, data);
}

}  // namespace hg::http
