#pragma once
// What the series of a load are called in each wire format, and where its requests go.

#include <cstdint>
#include <string>
#include <utility>

#include "bench/load.h"

namespace hg::bench {

/// "cpu.usage_user", ...; Prometheus knows no dots in names.
std::string MetricName(uint32_t metric, Wire wire);
/// Its name as a field of the measurement "cpu".
std::string FieldName(uint32_t metric);

/// The tags of a host as the wire format has them: in JSON with what closes a point behind them.
std::string Tags(uint32_t host, uint32_t count, Wire wire);

/// Of requests, for the formats that are HTTP's.
std::pair<const char*, const char*> PathAndType(Wire wire);

}  // namespace hg::bench
