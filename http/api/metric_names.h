#pragma once
// Maps the statistics of /api/stats to Prometheus metrics of /metrics, whose names include units
// and types.

#include <span>
#include <string_view>

#include "http/wire/metrics_text.h"

namespace hg::http {

/// Maps one statistic (a number or latency of api/collected_stats.h) to a metric of /metrics. With
/// `only`, maps only the numbers with one tag. The texts are static data.
struct StatMetric {
  std::string_view stat;  // name of the statistic, without the prefix "tsd."
  /// If not "": a tag in the form "key=value". The entry then applies only to numbers with this
  /// tag, and the tag does not become a label.
  std::string_view only;
  /// The Prometheus metric. "" = /metrics leaves the number out, because it is always 0 in
  /// Hourglass or another metric covers it.
  std::string_view metric;
  MetricType type = MetricType::kUntyped;
  std::string_view help = {};
  std::string_view label = {};  // "key=value": a label in addition to the tags
  double unit = 1;              // factor from the stat's unit to the metric's unit
};

/// All mappings. Several may share one metric, with the same type and help. The first mapping that
/// matches a number applies.
std::span<const StatMetric> StatMetrics();

}  // namespace hg::http
