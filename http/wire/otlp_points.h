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

/// The words in OtlpNaming::resource_attributes that select the name and the version of the scope
/// as labels. These words do not select attributes of the resource.
inline constexpr std::string_view kScopeName = "otel.scope.name";
inline constexpr std::string_view kScopeVersion = "otel.scope.version";

/// Limits of a data point. They limit the number of attributes, including attributes that the data
/// point shares with others, and the bytes of its attributes and its name. Without these limits, a
/// small body with data points of two bytes could repeat all shared attributes for each data point.
inline constexpr size_t kOtlpAttributesMax = 256;
inline constexpr size_t kOtlpSeriesBytesMax = 32 << 10;

struct OtlpNaming {
  /// The names of the resource attributes that become labels. {"*"} means all resource attributes,
  /// and also the name and the version of the scope.
  std::vector<std::string> resource_attributes;
};

/// Passes every data point to the sink, each as one item. The attributes of the point, of its scope
/// and of its resource become labels. If a key occurs several times, the attribute of the point has
/// precedence over that of the scope, and that of the scope over that of the resource.
///
/// A number becomes one point. Histograms and summaries become the same series as in Prometheus. A
/// point without a recorded value becomes stale markers, as in Prometheus. Invalid points are
/// rejected; only the first error contains the series.
void AddDataPoints(const otlp::ExportMetricsServiceRequest& request, const OtlpNaming& naming,
                   LabelledSink* sink);
/// Decodes the request `protobuf` and passes every data point to the sink. Returns false without
/// calling the sink if the bytes are invalid or `memory` has not enough memory.
bool AddDataPoints(std::string_view protobuf, const OtlpNaming& naming, LabelledSink* sink,
                   RequestMemory::Share* memory);

}  // namespace hg::http
