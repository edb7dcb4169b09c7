#pragma once
// Returns the names and tags of the series of the load in each wire format, and the paths of the
// requests.

#include <cstdint>
#include <string>
#include <utility>

#include "bench/load.h"

namespace hg::bench {

/// Returns the name of the metric with this number, such as "cpu.usage_user". In the format of
/// Prometheus, the name has no dots.
std::string MetricName(uint32_t metric, Wire wire);
/// Returns the name that the metric with this number has in InfluxDB's line protocol. There, it is
/// a field of the measurement "cpu".
std::string FieldName(uint32_t metric);

/// Returns the text of the first `count` tags of a host in the wire format. For kPut and kTelnet,
/// the text also contains the characters that end the point after its tags.
std::string Tags(uint32_t host, uint32_t count, Wire wire);

/// Returns the path and the content type of the requests in a wire format that uses HTTP.
std::pair<const char*, const char*> PathAndType(Wire wire);

}  // namespace hg::bench
