#pragma once
// Maps the statistics of /api/stats to the Prometheus metrics of /metrics. Names of these metrics
// include unit and type.

#include <span>
#include <string_view>

#include "http/wire/metrics_text.h"

namespace hg::http {

/// Maps one statistic (a number or latency of api/collected_stats.h) to a metric of /metrics. If
/// `only` is set, maps only the numbers with that tag. The texts are static data.
struct StatMetric {
  std::string_view stat;  // name of the statistic, without the prefix "tsd."
  /// If not "", a tag in the form "key=value". The entry then maps only numbers that have this tag,
  /// and the tag does not become a label.
  std::string_view only;
  /// The name of the Prometheus metric. If it is "", /metrics leaves the number out, because it is
  /// always 0 in Hourglass or because another metric contains it.
  std::string_view metric;
  MetricType type = MetricType::kUntyped;
  std::string_view help = {};
  std::string_view label = {};  // "key=value": a label that is added to the tags
  double unit = 1;              // factor from the stat's unit to the metric's unit
};

/// Returns all mappings. Several mappings may have one metric, with the same type and help. If
/// several mappings match a number, the first one applies.
std::span<const StatMetric> StatMetrics();

}  // namespace hg::http
