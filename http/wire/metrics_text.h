#pragma once
// Writes Prometheus' text format, version 0.0.4: metric families with help, type and samples.

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

/// Converts any text to a valid metric name: invalid characters become '_'.
std::string MetricName(std::string_view text);

/// Writes metric families one after the other. All samples of a family must be written together.
class MetricsText {
 public:
  explicit MetricsText(std::string* out) : out_(*out) {}

  /// Begins a family. `name` must be a valid metric name (MetricName).
  void Family(std::string_view name, MetricType type, std::string_view help);
  /// Writes a sample of the current family. `suffix` is "_bucket", "_sum", "_count" or "". Label
  /// names must be valid; label values are escaped.
  void Sample(const MetricLabels& labels, int64_t value, std::string_view suffix = {});
  void Sample(const MetricLabels& labels, double value, std::string_view suffix = {});
  /// Writes a histogram in seconds: "_bucket" for each bound (label `le`), "_sum" and "_count".
  void Histogram(const MetricLabels& labels, const LatencyHistogram& took);

 private:
  void Begin(const MetricLabels& labels, std::string_view suffix);

  std::string& out_;
  std::string name_;
};

}  // namespace hg::http
