#pragma once
// From the metrics of OpenTelemetry to points of series with labels (docs/languages.md).

#include <string>
#include <string_view>
#include <vector>

#include "http/wire/series_labels.h"

namespace hg::otlp {
class ExportMetricsServiceRequest;
}

namespace hg::http {

/// What may stand among OtlpNaming::resource_attributes beside attributes.
inline constexpr std::string_view kScopeName = "otel.scope.name";
inline constexpr std::string_view kScopeVersion = "otel.scope.version";

/// Of a data point, with what it shares: attributes, and the bytes of them and of its name. Two
/// bytes of a request can ask for all of that once more.
inline constexpr size_t kOtlpAttributesMax = 256;
inline constexpr size_t kOtlpSeriesBytesMax = 32 << 10;

struct OtlpNaming {
  /// Of a resource's attributes those become labels; {"*"}: all of them, and the scope's name and
  /// version.
  std::vector<std::string> resource_attributes;
};

/// Gives every data point to the sink, an item each. Attributes of a point, of its scope and of its
/// resource are labels; where they share a key, the first of these counts. A number is one point;
/// histograms and summaries become what Prometheus makes of them. What cannot be stored is refused,
/// the first with its series and others without; a point that says that it has no value is no item.
void AddDataPoints(const otlp::ExportMetricsServiceRequest& request, const OtlpNaming& naming,
                   LabelledSink* sink);
/// The same of a request in protobuf. False: the bytes are none, and the sink was told nothing.
bool AddDataPoints(std::string_view protobuf, const OtlpNaming& naming, LabelledSink* sink);

}  // namespace hg::http
