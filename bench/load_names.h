#pragma once
// The names that the series of the load have in each wire format, and the paths of the requests.

#include <cstdint>
#include <string>
#include <utility>

#include "bench/load.h"

namespace hg::bench {

/// Returns the name of a metric, such as "cpu.usage_user". In the format of Prometheus, the name
/// has no dots.
std::string MetricName(uint32_t metric, Wire wire);
/// Returns the name of a metric as a field of the measurement "cpu", for InfluxDB's line protocol.
std::string FieldName(uint32_t metric);

/// Returns the text of the tags of a host. In JSON, the text also contains the closing characters
/// of the point after the tags.
std::string Tags(uint32_t host, uint32_t count, Wire wire);

/// Returns the path and the content type of requests in a format that uses HTTP.
std::pair<const char*, const char*> PathAndType(Wire wire);

}  // namespace hg::bench
