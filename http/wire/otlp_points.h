#pragma once
// Converts OpenTelemetry metrics to points of series with labels (docs/ingestion.md).

#include <string>
#include <string_view>
#include <vector>

#include "http/wire/request_memory.h"
#include "http/wire/series_labels.h"

namespace hg::otlp {
class ExportMetricsServiceRequest;
}

namespace hg::http {

/// Names in OtlpNaming::resource_attributes that stand for properties of the scope.
inline constexpr std::string_view kScopeName = "otel.scope.name";
inline constexpr std::string_view kScopeVersion = "otel.scope.version";

/// Limits for a data point, including attributes that it shares with others: their number, and the
/// bytes of the attributes and the name. Without limits, two bytes of a request could repeat all
/// shared attributes.
inline constexpr size_t kOtlpAttributesMax = 256;
inline constexpr size_t kOtlpSeriesBytesMax = 32 << 10;

struct OtlpNaming {
  /// Resource attributes that become labels. {"*"}: all of them, and the scope's name and version.
  std::vector<std::string> resource_attributes;
};

/// Passes every data point to the sink, as one item each. Attributes of the point, its scope and
/// its resource become labels; for duplicate keys they win in this order. A number is one point;
/// histograms and summaries become the series that Prometheus makes of them. Invalid points are
/// refused; only the first refusal names its series. A point without a recorded value becomes stale
/// markers, as in Prometheus.
void AddDataPoints(const otlp::ExportMetricsServiceRequest& request, const OtlpNaming& naming,
                   LabelledSink* sink);
/// As above, for an encoded request. False: the bytes are invalid or `memory` refused the memory,
/// and the sink was not called.
bool AddDataPoints(std::string_view protobuf, const OtlpNaming& naming, LabelledSink* sink,
                   RequestMemory::Share* memory);

}  // namespace hg::http
