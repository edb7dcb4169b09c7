#pragma once
// Collects all statistics of the process. They are printed by /api/stats, /stats and telnet `stats`
// (stats.h), and by /metrics.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/latency.h"

namespace hg::http {

struct Services;

using StatTag = std::pair<std::string, std::string>;

/// One statistic whose value is a number. Its name has the form of opentsdb-http-api.md §15.1.
struct Stat {
  std::string name;  // name of the statistic, without the prefix "tsd."
  int64_t value = 0;
  std::vector<StatTag> tags;     // tags of this statistic that OpenTSDB prints before the host tag
  std::vector<StatTag> classes;  // tags of this statistic that OpenTSDB prints after the host tag
};

/// The latencies of one kind of operation. /api/stats shows percentiles of these latencies as
/// numbers ("NAME_95pct").
struct LatencyStat {
  std::string name;           // name of the statistic, without the prefix "tsd."
  std::vector<StatTag> tags;  // tags of this statistic, without the host tag
  LatencyHistogram took;
};

std::vector<LatencyStat> CollectLatencies(Services& services);

/// Returns all statistics that are numbers, in the order of the output. `with_threads`: whether the
/// result includes the numbers of threads (jvm.thread.*). Reads the UID table and /proc.
std::vector<Stat> CollectStats(Services& services, bool with_threads);

}  // namespace hg::http
