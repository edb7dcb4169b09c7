#pragma once
// The names that the series of the load have in each wire format, and the paths of its requests.

#include <cstdint>
#include <string>
#include <utility>

#include "bench/load.h"

namespace hg::bench {

/// Returns the name of a metric, such as "cpu.usage_user"; without dots in Prometheus' format.
std::string MetricName(uint32_t metric, Wire wire);
/// Returns the name of the metric as a field of the measurement "cpu" (InfluxDB's line protocol).
std::string FieldName(uint32_t metric);

/// Returns the tags of a host. For JSON, the closing characters of the point follow the tags.
std::string Tags(uint32_t host, uint32_t count, Wire wire);

/// Returns path and content type of requests, for formats that use HTTP.
std::pair<const char*, const char*> PathAndType(Wire wire);

}  // namespace hg::bench
