#pragma once
// Writes Prometheus' text format, version 0.0.4. The format consists of metric families, each with
// a help text, a type and samples.

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

/// Converts a text to a valid metric name: each character that is not allowed becomes '_'.
std::string MetricName(std::string_view text);

/// Writes metric families one after another. All samples of a family must be written together.
class MetricsText {
 public:
  explicit MetricsText(std::string* out) : out_(*out) {}

  /// Begins a new family. `name` must be a valid metric name (see MetricName).
  void Family(std::string_view name, MetricType type, std::string_view help);
  /// Writes a sample of the family that Family has begun last. `suffix` is "_bucket", "_sum",
  /// "_count" or "". Label names must be valid; the function escapes label values.
  void Sample(const MetricLabels& labels, int64_t value, std::string_view suffix = {});
  void Sample(const MetricLabels& labels, double value, std::string_view suffix = {});
  /// Writes a histogram in seconds: a sample "_bucket" for each bound (label `le`), a sample "_sum"
  /// and a sample "_count".
  void Histogram(const MetricLabels& labels, const LatencyHistogram& took);

 private:
  void Begin(const MetricLabels& labels, std::string_view suffix);

  std::string& out_;
  std::string name_;
};

}  // namespace hg::http
