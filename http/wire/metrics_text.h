#pragma once
// Prometheus' text format, version 0.0.4: families of samples, each announced by its help and type.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/latency.h"

namespace hg::http {

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram, kUntyped };

using MetricLabel = std::pair<std::string, std::string>;
using MetricLabels = std::vector<MetricLabel>;

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/// What may be a metric's name of any text: other characters become '_'.
std::string MetricName(std::string_view text);

/// Writes families one after the other; the samples of one stand together.
class MetricsText {
 public:
  explicit MetricsText(std::string* out) : out_(*out) {}

  /// Begins a family. `name` must be one (MetricName).
  void Family(std::string_view name, MetricType type, std::string_view help);
  /// A sample of the family that was begun last. `suffix`: "_bucket", "_sum", "_count" or none.
  /// Labels' names must be names, their values are escaped.
  void Sample(const MetricLabels& labels, int64_t value, std::string_view suffix = {});
  void Sample(const MetricLabels& labels, double value, std::string_view suffix = {});
  /// The samples of a histogram: "_bucket" of each bound (label `le`), "_sum" and "_count", in
  /// seconds.
  void Histogram(const MetricLabels& labels, const LatencyHistogram& took);

 private:
  void Begin(const MetricLabels& labels, std::string_view suffix);

  std::string& out_;
  std::string name_;
};

}  // namespace hg::http
