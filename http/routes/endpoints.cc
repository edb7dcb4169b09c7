#include "http/routes/endpoints.h"

#include <vector>

#include "http/api/handlers.h"

namespace hg::http {
namespace {

uint8_t ModeBit(Mode mode) {
  switch (mode) {
    case Mode::kReadOnly:
      return kInReadOnly;
    case Mode::kWriteOnly:
      return kInWriteOnly;
    case Mode::kReadWrite:
      break;
  }
  return kInReadWrite;
}

}  // namespace

std::span<const Endpoint> Endpoints() {
  // One line per endpoint. The handlers are declared in http/api.
  static const std::vector<Endpoint> table = {
      {"", Place::kRoot, kAny, kReads, ForReaders, HandleHome},
      {"admin", Place::kApi, kGetPost, kAllModes, ForAdmins, HandleAdmin},
      {"aggregators", Place::kApi, kGetPost, kAllModes, ForReaders, HandleAggregators},
      {"aggregators", Place::kRoot, kGetPost, kAllModes, ForReaders, HandleAggregators},
      {"annotation", Place::kApi, kAny, kWrites, ForReadersByVerb, HandleAnnotation},
      {"annotations", Place::kApi, kAny, kWrites, ForReadersByVerb, HandleAnnotations},
      {"config", Place::kApi, kGetPost, kAllModes, ForReaders, HandleConfig},
      {"diediedie", Place::kRoot, kAny, kAllModes, ForAdmins, HandleDiediedie},
      {"dropcaches", Place::kApi, kGet | kDelete, kAllModes, ForAdmins, HandleDropcaches},
      {"favicon.ico", Place::kRoot, kAny, kReads, ForReaders, HandleFile},
      {"histogram", Place::kApi, kAny, kWrites, ForWriters, HandleHistogram},
      {"label", Place::kApi, kGet, kReads, ForReaders, HandlePromLabel},
      {"labels", Place::kApi, kGetPost, kReads, ForReaders, HandlePromLabels},
      {"logs", Place::kRoot, kGetPost, kAllModes, ForAdmins, HandleLogs},
      {"put", Place::kApi, kPost, kWrites, ForWriters, HandlePut},
      {"q", Place::kRoot, kAny, kReads, ForReaders, HandleGraph},
      {"query", Place::kApi, kGetPostDelete, kReads, ForQueries, HandleQuery, Where::kLoop},
      {"query_range", Place::kApi, kGetPost, kReads, ForReaders, HandlePromQueryRange,
       Where::kLoop},
      {"read", Place::kApi, kPost, kReads, ForReaders, HandleRemoteRead},
      {"rollup", Place::kApi, kPost, kWrites, ForWriters, HandleRollup},
      {"s", Place::kRoot, kAny, kReads, ForReaders, HandleFile},
      {"search", Place::kApi, kAny, kReads, ForReaders, HandleSearch},
      {"series", Place::kApi, kGetPost, kReads, ForReaders, HandlePromSeries},
      {"stats", Place::kApi, kGetPostDelete, kAllModes, ForStats, HandleStats},
      {"stats", Place::kRoot, kGetPost, kAllModes, ForStats, HandleStatsPage},
      {"suggest", Place::kApi, kGetPost, kReads, ForReaders, HandleSuggest},
      {"suggest", Place::kRoot, kGetPost, kReads, ForReaders, HandleSuggest},
      {"tree", Place::kApi, kAny, kWrites, ForReadersByVerb, HandleTree},
      {"uid", Place::kApi, kAny, kWrites, ForUids, HandleUid},
      {"user", Place::kApi, kGet, kAllModes, ForUsers, HandleUser, Where::kLoop},
      {"version", Place::kApi, kGetPost, kAllModes, ForUsers, HandleVersion, Where::kLoop},
      {"version", Place::kRoot, kGetPost, kAllModes, ForUsers, HandleVersion, Where::kLoop},
      {"write", Place::kApi, kPost, kWrites, ForWriters, HandleRemoteWrite},

      {"/-/healthy", Place::kWatch, kAny, kAllModes, ForAnyone, HandleHealthz, Where::kLoop},
      {"/-/ready", Place::kWatch, kAny, kAllModes, ForAnyone, HandleReadyz},
      {"/healthz", Place::kWatch, kAny, kAllModes, ForAnyone, HandleHealthz, Where::kLoop},
      {"/metrics", Place::kWatch, kAny, kAllModes, ForReaders, HandleMetrics},
      {"/readyz", Place::kWatch, kAny, kAllModes, ForAnyone, HandleReadyz},

      {"/api/metadata/put", Place::kPath, kPost, kWrites, ForWriters, HandleScollectorMetadata},
      {"/api/v1/alertmanagers", Place::kPath, kGet, kReads, ForReaders, HandlePromNothing},
      {"/api/v1/alerts", Place::kPath, kGet, kReads, ForReaders, HandlePromNothing},
      {"/api/v1/format_query", Place::kPath, kGetPost, kReads, ForReaders, HandlePromFormat},
      {"/api/v1/metadata", Place::kPath, kGet, kReads, ForReaders, HandlePromMetadata},
      {"/api/v1/otlp/v1/metrics", Place::kPath, kPost, kWrites, ForWriters, HandleOtlpMetrics},
      {"/api/v1/parse_query", Place::kPath, kGetPost, kReads, ForReaders, HandlePromParse},
      {"/api/v1/query_exemplars", Place::kPath, kGetPost, kReads, ForReaders, HandlePromExemplars},
      {"/api/v1/rules", Place::kPath, kGet, kReads, ForReaders, HandlePromNothing},
      {"/api/v1/scrape_pools", Place::kPath, kGet, kReads, ForReaders, HandlePromNothing},
      {"/api/v1/status/buildinfo", Place::kPath, kGet, kReads, ForReaders, HandlePromBuildInfo},
      {"/api/v1/status/config", Place::kPath, kGet, kReads, ForReaders, HandlePromConfig},
      {"/api/v1/status/flags", Place::kPath, kGet, kReads, ForReaders, HandlePromFlags},
      {"/api/v1/status/runtimeinfo", Place::kPath, kGet, kReads, ForReaders, HandlePromRuntimeInfo},
      {"/api/v1/status/tsdb", Place::kPath, kGet, kReads, ForReaders, HandlePromTsdb},
      {"/api/v1/targets", Place::kPath, kGet, kReads, ForReaders, HandlePromNothing},
      {"/api/v1/targets/metadata", Place::kPath, kGet, kReads, ForReaders, HandlePromNothing},
      {"/api/v2/write", Place::kPath, kPost, kWrites, ForWriters, HandleInfluxWrite},
      {"/federate", Place::kPath, kGet, kReads, ForReaders, HandleFederate},
      {"/health", Place::kPath, kGet, kAllModes, ForUsers, HandleInfluxHealth},
      {"/opentelemetry/v1/metrics", Place::kPath, kPost, kWrites, ForWriters, HandleOtlpMetrics},
      {"/ping", Place::kPath, kAny, kAllModes, ForUsers, HandleInfluxPing},
      {"/query", Place::kPath, kGetPost, kWrites, ForWriters, HandleInfluxQuery},
      {"/v1/metrics", Place::kPath, kPost, kWrites, ForWriters, HandleOtlpMetrics},
      {"/write", Place::kPath, kPost, kWrites, ForWriters, HandleInfluxWrite},
  };
  return table;
}

namespace {

std::string_view PathOf(const Request& request) {
  const std::string_view target = request.target;
  return target.substr(0, target.find('?'));
}

}  // namespace

bool IsWholePath(const Request& request) {
  std::string_view path = PathOf(request);
  if (path.ends_with('/')) path.remove_suffix(1);
  const auto& all = Endpoints();
  return std::any_of(all.begin(), all.end(), [path](const Endpoint& endpoint) {
    return endpoint.place == Place::kPath && endpoint.name == path;
  });
}

const Endpoint* FindEndpoint(const Request& request, const Options& options) {
  std::string_view path = PathOf(request);
  if (const Endpoint* const found = FindEndpoint(path, Place::kWatch, options)) return found;
  if (path.ends_with('/')) path.remove_suffix(1);
  if (const Endpoint* const found = FindEndpoint(path, Place::kPath, options)) return found;
  const Place place = request.api_version >= 0 ? Place::kApi : Place::kRoot;
  return FindEndpoint(request.Endpoint(), place, options);
}

const Endpoint* FindEndpoint(std::string_view name, Place place, const Options& options) {
  if (name == "diediedie" && !options.diediedie_enabled) return nullptr;
  const bool enabled =
      place == Place::kWatch || (place == Place::kRoot ? options.ui_enabled : options.api_enabled);
  for (const Endpoint& endpoint : Endpoints()) {
    if (endpoint.name != name || endpoint.place != place || !enabled) continue;
    return (endpoint.modes & ModeBit(options.mode)) != 0 ? &endpoint : nullptr;
  }
  return nullptr;
}

}  // namespace hg::http
