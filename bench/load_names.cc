#include "bench/load_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "bench/protobuf_points.h"

namespace hg::bench {
namespace {

constexpr std::array<const char*, kMetricsMax> kMetrics = {
    "cpu.usage_user",   "cpu.usage_system",    "cpu.usage_idle",    "cpu.usage_nice",
    "cpu.usage_iowait", "cpu.usage_irq",       "cpu.usage_softirq", "cpu.usage_steal",
    "cpu.usage_guest",  "cpu.usage_guest_nice"};
constexpr std::array<const char*, kTagsMax> kTagNames = {
    "hostname", "region",          "datacenter",         "rack", "os", "arch", "team",
    "service",  "service_version", "service_environment"};
constexpr std::array<const char*, 4> kRegions = {"eu-west-1", "eu-central-1", "us-east-1",
                                                 "us-west-2"};
constexpr std::array<const char*, 3> kSystems = {"Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"};
constexpr std::array<const char*, 2> kArchitectures = {"x64", "x86"};
constexpr std::array<const char*, 4> kTeams = {"SF", "NYC", "LON", "CHI"};
constexpr std::array<const char*, 3> kEnvironments = {"production", "staging", "test"};

/// Returns a text chosen by the number of the host. No two tags always change together.
template <size_t N>
const char* Pick(const std::array<const char*, N>& from, uint32_t number) {
  return from[number % N];
}

std::array<std::string, kTagsMax> TagValues(uint32_t host) {
  const std::string region = Pick(kRegions, host);
  return {"host_" + std::to_string(host),
          region,
          region + static_cast<char>('a' + host / 7 % 3),
          std::to_string(host % 100),
          Pick(kSystems, host / 3),
          Pick(kArchitectures, host / 5),
          Pick(kTeams, host / 11),
          std::to_string(host / 13 % 20),
          std::to_string(host / 17 % 2),
          Pick(kEnvironments, host / 19)};
}

}  // namespace

std::string Tags(uint32_t host, uint32_t count, Wire wire) {
  const auto values = TagValues(host);
  std::map<std::string, std::string> sorted;  // sorted by name, as remote write requires
  for (size_t i = 0; i < count; ++i) sorted[kTagNames[i]] = values[i];
  std::string text = wire == Wire::kPut ? R"("tags":{)" : "";
  for (size_t i = 0; i < count; ++i) {
    const std::string name = kTagNames[i];
    switch (wire) {
      case Wire::kPut:
        text.append(i == 0 ? "\"" : ",\"").append(name).append(R"(":")");
        text.append(values[i]).append("\"");
        break;
      case Wire::kTelnet:
        text.append(" ").append(name).append("=").append(values[i]);
        break;
      case Wire::kInflux:
        text.append(",").append(name).append("=").append(values[i]);
        break;
      case Wire::kGraphite:
      case Wire::kPickle:
        text.append(";").append(name).append("=").append(values[i]);
        break;
      case Wire::kRemote:
        break;
      case Wire::kOtlp:
        AppendOtlpAttribute(name, values[i], &text);
        break;
      case Wire::kOtlpJson:
        text.append(i == 0 ? "" : ",").append(R"({"key":")").append(name);
        text.append(R"(","value":{"stringValue":")").append(values[i]).append("\"}}");
        break;
    }
  }
  if (wire == Wire::kRemote) {
    for (const auto& [name, value] : sorted) AppendRemoteLabel(name, value, &text);
  }
  if (wire == Wire::kPut) return text + "}},";
  return wire == Wire::kTelnet ? text + "\n" : text;
}

std::string MetricName(uint32_t metric, Wire wire) {
  std::string name = kMetrics[metric];
  if (wire == Wire::kRemote) std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::string FieldName(uint32_t metric) {
  return std::string(std::string_view(kMetrics[metric]).substr(std::string_view("cpu.").size()));
}

std::pair<const char*, const char*> PathAndType(Wire wire) {
  switch (wire) {
    case Wire::kInflux:
      return {"/write?db=opentsdb", "text/plain"};
    case Wire::kRemote:
      return {"/api/v1/write", "application/x-protobuf"};
    case Wire::kOtlp:
      return {"/v1/metrics", "application/x-protobuf"};
    case Wire::kOtlpJson:
      return {"/v1/metrics", "application/json"};
    default:
      return {"/api/put", "application/json"};
  }
}

}  // namespace hg::bench
