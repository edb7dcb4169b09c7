#pragma once
// Maps the statistics of /api/stats to the Prometheus metrics of /metrics. The names of these
// metrics contain the unit and the type.

#include <span>
#include <string_view>

#include "http/wire/metrics_text.h"

namespace hg::http {

/// Maps one statistic (a number or a latency of api/collected_stats.h) to a metric of /metrics. If
/// `only` is set, the mapping is used only for numbers with that tag. The texts are static data.
struct StatMetric {
  std::string_view stat;  // name of the statistic, without the prefix "tsd."
  /// If not "", a tag in the form "key=value". The mapping is then used only for numbers that have
  /// this tag, and the tag does not become a label.
  std::string_view only;
  /// The name of the Prometheus metric. If this is "", /metrics leaves the number out, either
  /// because the number is always 0 in Hourglass or because another metric contains it.
  std::string_view metric;
  MetricType type = MetricType::kUntyped;
  std::string_view help = {};
  std::string_view label = {};  // a label in the form "key=value" that is added to the tags
  double unit = 1;  // factor that converts the unit of the statistic to the unit of the metric
};

/// Returns all mappings. Several mappings may lead to the same metric; they then have the same type
/// and help text. If several mappings match a number, the first of them is used.
std::span<const StatMetric> StatMetrics();

}  // namespace hg::http
