#include "http/api/stats.h"

#include <netdb.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "http/api/collected_stats.h"
#include "http/api/handlers.h"
#include "http/api/process_stats.h"
#include "http/request/build_info.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_writer.h"

namespace hg::http {
namespace {

std::string HostName() {
  char name[256] = "";
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "(unknown)";
  return name;
}

std::string FullHostName() {
  const std::string host = HostName();
  addrinfo hints{};
  hints.ai_flags = AI_CANONNAME;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return host;
  const std::string full = found->ai_canonname != nullptr ? found->ai_canonname : host;
  freeaddrinfo(found);
  return full;
}

/// Returns the tags that every point has.
std::vector<StatTag> CommonTags(const Options& options) {
  std::vector<StatTag> tags;
  if (options.stats_canonical) {
    tags.emplace_back("fqdn", FullHostName());
  } else {
    std::string host = HostName();
    tags.emplace_back("host", host.substr(0, host.find('.')));
  }
  if (options.stats_with_port) tags.emplace_back("port", std::to_string(options.port));
  return tags;
}

/// A number in the form of OpenTSDB's points.
struct StatPoint {
  std::string metric;  // with "tsd."
  int64_t value = 0;
  std::vector<StatTag> tags;  // the point's own tags, then the host tag, then "class"
};

std::vector<StatPoint> StatPoints(Services& services, bool with_threads) {
  const std::vector<StatTag> common = CommonTags(services.options);
  std::vector<StatPoint> points;
  for (Stat& stat : CollectStats(services, with_threads)) {
    StatPoint& point = points.emplace_back();
    point.metric = "tsd." + stat.name;
    point.value = stat.value;
    point.tags = std::move(stat.tags);
    point.tags.insert(point.tags.end(), common.begin(), common.end());
    point.tags.insert(point.tags.end(), stat.classes.begin(), stat.classes.end());
  }
  return points;
}

std::string Line(const StatPoint& stat, int64_t now_s) {
  std::string line = stat.metric + " " + std::to_string(now_s) + " " + std::to_string(stat.value);
  for (const auto& [key, value] : stat.tags) line += " " + key + "=" + value;
  return line;
}

std::string PointsJson(Services& services) {
  const int64_t now_s = services.clock.NowMs() / 1000;
  std::string body;
  JsonWriter json(&body);
  json.BeginArray();
  for (const StatPoint& stat : StatPoints(services, false)) {
    json.BeginObject();
    json.Member("metric", stat.metric);
    json.Member("timestamp", now_s);
    json.Member("value", std::to_string(stat.value));
    json.Key("tags");
    json.BeginObject();
    for (const auto& [key, value] : stat.tags) json.Member(key, value);
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
  return body;
}

void WriteMemory(JsonWriter* json, std::string_view name, uint64_t used, int64_t max) {
  json->Key(name);
  json->BeginObject();
  json->Member("init", 0);
  json->Member("used", static_cast<int64_t>(used));
  json->Member("committed", static_cast<int64_t>(used));
  json->Member("max", max);
  json->EndObject();
}

/// Returns the document of OpenTSDB's JVM statistics, with the numbers of this process.
std::string ProcessJson(Services& services) {
  const ProcessStats process = ReadProcessStats();
  double load[1] = {0};
  if (getloadavg(load, 1) != 1) load[0] = 0;
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  json.Key("memory");
  json.BeginObject();
  WriteMemory(&json, "nonHeapMemoryUsage", 0, -1);
  json.Member("objectsPendingFinalization", 0);
  WriteMemory(&json, "heapMemoryUsage", process.memory_resident_bytes,
              static_cast<int64_t>(process.memory_total_bytes));
  json.EndObject();
  json.Key("os");
  json.BeginObject();
  json.Member("systemLoadAverage", load[0]);
  json.EndObject();
  json.Key("runtime");
  json.BeginObject();
  json.Member("vmName", "hourglass");
  json.Member("vmVersion", ThisBuild().product_version);
  json.Member("startTime", services.clock.NowMs() - process.uptime_ms);
  json.Member("vmVendor", "hourglass");
  json.Member("uptime", process.uptime_ms);
  json.EndObject();
  for (const char* name : {"pools", "gc"}) {
    json.Key(name);
    json.BeginObject();
    json.EndObject();
  }
  json.EndObject();
  return body;
}

std::string ThreadsJson() {
  std::string body;
  JsonWriter json(&body);
  json.BeginArray();
  for (const ThreadStats& thread : ReadProcessStats().threads) {
    json.BeginObject();
    json.Member("threadID", static_cast<int64_t>(thread.id));
    json.Key("stack");
    json.BeginArray();
    json.EndArray();
    json.Member("name", thread.name);
    json.Member("state", thread.state == 'R' ? "RUNNABLE" : "WAITING");
    json.Member("interrupted", false);
    json.Member("priority", thread.priority);
    json.EndObject();
  }
  json.EndArray();
  return body;
}

}  // namespace

void HandleStats(const Request& request, Services& services, ResponseWriter& out) {
  const std::string part = request.Segment(1);
  if (part == "query") return HandleQueryStats(request, services, out);
  if (request.method == Method::kDelete) return SendMethodNotAllowed(out, request);
  if (part == "jvm") return SendJson(out, request, ProcessJson(services));
  if (part == "threads") return SendJson(out, request, ThreadsJson());
  // OpenTSDB lists its connections to region servers here. This server reports none.
  if (part == "region_clients") return SendJson(out, request, "[]");
  SendJson(out, request, PointsJson(services));
}

std::string StatsText(Services& services) {
  const int64_t now_s = services.clock.NowMs() / 1000;
  std::string text;
  for (const StatPoint& stat : StatPoints(services, true)) text += Line(stat, now_s) + "\n";
  return text;
}

void HandleStatsPage(const Request& request, Services& services, ResponseWriter& out) {
  if (!request.parameters.Has("json")) return SendBody(out, 200, "text/plain", StatsText(services));
  const int64_t now_s = services.clock.NowMs() / 1000;
  std::string body;
  JsonWriter json(&body);
  json.BeginArray();
  for (const StatPoint& stat : StatPoints(services, true)) json.String(Line(stat, now_s));
  json.EndArray();
  SendJson(out, request, body);
}

}  // namespace hg::http
