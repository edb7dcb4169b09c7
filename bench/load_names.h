#pragma once
// Names of the load's series in each wire format, and the paths of its requests.

#include <cstdint>
#include <string>
#include <utility>

#include "bench/load.h"

namespace hg::bench {

/// "cpu.usage_user", ...; without dots in Prometheus' format.
std::string MetricName(uint32_t metric, Wire wire);
/// The metric as a field of the measurement "cpu".
std::string FieldName(uint32_t metric);

/// The tags of a host in the wire format. For JSON, the closing characters of the point follow.
std::string Tags(uint32_t host, uint32_t count, Wire wire);

/// Path and content type of requests, for formats that use HTTP.
std::pair<const char*, const char*> PathAndType(Wire wire);

}  // namespace hg::bench
