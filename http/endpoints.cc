#include "http/endpoints.h"

#include <vector>

#include "http/api/admin.h"
#include "http/api/aggregators.h"
#include "http/api/annotations.h"
#include "http/api/config.h"
#include "http/api/diediedie.h"
#include "http/api/dropcaches.h"
#include "http/api/graph.h"
#include "http/api/health.h"
#include "http/api/influx.h"
#include "http/api/metrics.h"
#include "http/api/otlp.h"
#include "http/api/pages.h"
#include "http/api/prom_query.h"
#include "http/api/prom_series.h"
#include "http/api/prom_status.h"
#include "http/api/put.h"
#include "http/api/query.h"
#include "http/api/remote_read.h"
#include "http/api/remote_write.h"
#include "http/api/search.h"
#include "http/api/stats.h"
#include "http/api/suggest.h"
#include "http/api/tree.h"
#include "http/api/uid.h"
#include "http/api/version.h"

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
  // One line per endpoint; the handlers' headers are in http/api.
  static const std::vector<Endpoint> table = {
      {"", Place::kRoot, kAny, kReads, HandleHome},
      {"admin", Place::kApi, kGetPost, kAllModes, HandleAdmin},
      {"aggregators", Place::kApi, kGetPost, kAllModes, HandleAggregators},
      {"aggregators", Place::kRoot, kGetPost, kAllModes, HandleAggregators},
      {"annotation", Place::kApi, kAny, kWrites, HandleAnnotation},
      {"annotations", Place::kApi, kAny, kWrites, HandleAnnotations},
      {"config", Place::kApi, kGetPost, kAllModes, HandleConfig},
      {"diediedie", Place::kRoot, kAny, kAllModes, HandleDiediedie},
      {"dropcaches", Place::kApi, kGet | kDelete, kAllModes, HandleDropcaches},
      {"favicon.ico", Place::kRoot, kAny, kReads, HandleFile},
      {"healthz", Place::kWatch, kAny, kAllModes, HandleHealthz, Where::kLoop},
      {"histogram", Place::kApi, kAny, kWrites, HandleHistogram},
      {"label", Place::kApi, kGet, kReads, HandlePromLabel},
      {"labels", Place::kApi, kGetPost, kReads, HandlePromLabels},
      {"logs", Place::kRoot, kGetPost, kAllModes, HandleLogs},
      {"metadata", Place::kApi, kGet, kReads, HandlePromMetadata},
      {"metrics", Place::kWatch, kAny, kAllModes, HandleMetrics},
      {"put", Place::kApi, kPost, kWrites, HandlePut},
      {"q", Place::kRoot, kAny, kReads, HandleGraph},
      {"query", Place::kApi, kGetPostDelete, kReads, HandleQuery, Where::kLoop},
      {"query_range", Place::kApi, kGetPost, kReads, HandlePromQueryRange},
      {"readyz", Place::kWatch, kAny, kAllModes, HandleReadyz},
      {"read", Place::kApi, kPost, kReads, HandleRemoteRead},
      {"rollup", Place::kApi, kPost, kWrites, HandleRollup},
      {"s", Place::kRoot, kAny, kReads, HandleFile},
      {"search", Place::kApi, kAny, kReads, HandleSearch},
      {"series", Place::kApi, kGetPost, kReads, HandlePromSeries},
      {"stats", Place::kApi, kGetPostDelete, kAllModes, HandleStats},
      {"stats", Place::kRoot, kGetPost, kAllModes, HandleStatsPage},
      {"suggest", Place::kApi, kGetPost, kReads, HandleSuggest},
      {"suggest", Place::kRoot, kGetPost, kReads, HandleSuggest},
      {"tree", Place::kApi, kAny, kWrites, HandleTree},
      {"uid", Place::kApi, kAny, kWrites, HandleUid},
      {"version", Place::kApi, kGetPost, kAllModes, HandleVersion, Where::kLoop},
      {"version", Place::kRoot, kGetPost, kAllModes, HandleVersion, Where::kLoop},
      {"write", Place::kApi, kPost, kWrites, HandleRemoteWrite},

      {"/api/v1/status/buildinfo", Place::kPath, kGet, kReads, HandlePromBuildInfo},
      {"/api/v2/write", Place::kPath, kPost, kWrites, HandleInfluxWrite},
      {"/health", Place::kPath, kGet, kAllModes, HandleInfluxHealth},
      {"/ping", Place::kPath, kAny, kAllModes, HandleInfluxPing},
      {"/query", Place::kPath, kGetPost, kWrites, HandleInfluxQuery},
      {"/v1/metrics", Place::kPath, kPost, kWrites, HandleOtlpMetrics},
      {"/write", Place::kPath, kPost, kWrites, HandleInfluxWrite},
  };
  return table;
}

const Endpoint* FindEndpoint(std::string_view name, Place place, const Options& options) {
  if (name == "diediedie" && !options.diediedie_enabled) return nullptr;
  const bool enabled = place == Place::kRoot ? options.ui_enabled : options.api_enabled;
  for (const Endpoint& endpoint : Endpoints()) {
    const bool watch = endpoint.place == Place::kWatch && place == Place::kRoot;
    if (endpoint.name != name || (!watch && (endpoint.place != place || !enabled))) continue;
    return (endpoint.modes & ModeBit(options.mode)) != 0 ? &endpoint : nullptr;
  }
  return nullptr;
}

}  // namespace hg::http
