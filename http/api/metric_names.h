#pragma once
// What the numbers of /api/stats are called at /metrics, where names have units and types.

#include <span>
#include <string_view>

#include "http/wire/metrics_text.h"

namespace hg::http {

/// One number or latency (api/collected_stats.h), or those of its tags, as a metric. Static data.
struct StatMetric {
  std::string_view stat;    // its name, without "tsd."
  std::string_view only;    // "key=value": of this tag alone, which then is no label; "" = whatever
  std::string_view metric;  // "" = not shown: always 0 here, or told by another metric
  MetricType type = MetricType::kUntyped;
  std::string_view help = {};
  std::string_view label = {};  // "key=value" that it gets beside its tags
  double unit = 1;              // how much of the metric's unit the stat's 1 is
};

/// All that is known; several may have one metric, with the same type and help. The first that
/// fits a number counts.
std::span<const StatMetric> StatMetrics();

}  // namespace hg::http
