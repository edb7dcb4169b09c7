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

/// In OtlpNaming::resource_attributes, these two names mean the name and the version of the scope,
/// not attributes of the resource.
inline constexpr std::string_view kScopeName = "otel.scope.name";
inline constexpr std::string_view kScopeVersion = "otel.scope.version";

/// Limits of a data point: the number of attributes, including those that it shares with other
/// points, and the bytes of its attributes and name. Without limits, a body could repeat all shared
/// attributes for each data point of two bytes.
inline constexpr size_t kOtlpAttributesMax = 256;
inline constexpr size_t kOtlpSeriesBytesMax = 32 << 10;

struct OtlpNaming {
  /// The resource attributes that become labels. {"*"} means all of them, and also the name and
  /// version of the scope.
  std::vector<std::string> resource_attributes;
};

/// Passes every data point to the sink, as one item each. Attributes of the point, its scope and
/// its resource become labels. If a key occurs more than once, the first one in this order is used.
/// A number becomes one point; histograms and summaries become the same series as in Prometheus.
/// Invalid points are rejected; only the first error names its series. A point without a recorded
/// value becomes stale markers, as in Prometheus.
void AddDataPoints(const otlp::ExportMetricsServiceRequest& request, const OtlpNaming& naming,
                   LabelledSink* sink);
/// Like the function above, for an encoded request. Returns false without calling the sink if the
/// bytes are invalid or `memory` has too little memory.
bool AddDataPoints(std::string_view protobuf, const OtlpNaming& naming, LabelledSink* sink,
                   RequestMemory::Share* memory);

}  // namespace hg::http
