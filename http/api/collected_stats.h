#pragma once
// Every number that this process tells about itself, gathered once for all forms in which it is
// shown: /api/stats, /stats and telnet `stats` (api/stats.h), /metrics (api/metrics.h).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/latency.h"

namespace hg::http {

struct Services;

using StatTag = std::pair<std::string, std::string>;

/// One number, as spec http-api.md §15.1 names it.
struct Stat {
  std::string name;  // without "tsd."
  int64_t value = 0;
  std::vector<StatTag> tags;     // its own
  std::vector<StatTag> classes;  // behind the host's tag, where OpenTSDB has them
};

/// How long something took, of which /api/stats shows percentiles as numbers ("NAME_95pct").
struct LatencyStat {
  std::string name;  // without "tsd."
  std::vector<StatTag> tags;
  LatencyHistogram took;
};

std::vector<LatencyStat> CollectLatencies(Services& services);

/// In the order in which they are shown. Reads the table of ids and /proc.
std::vector<Stat> CollectStats(Services& services, bool with_threads);

}  // namespace hg::http
