#pragma once
// Points in the two languages of the load that are protobuf: Prometheus' remote write and OTLP.
// Fields of the outermost message that are appended one after the other; only times are rewritten,
// in place.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hg::bench {

/// A field "labels" of prometheus.TimeSeries. The caller has them in the order of their names.
void AppendRemoteLabel(std::string_view name, std::string_view value, std::string* out);

/// A field "timeseries" of prometheus.WriteRequest with one sample. `labels`: encoded, without the
/// name. Returns where the time begins, to be written by WriteRemoteTime.
size_t AppendRemoteSeries(std::string_view metric, std::string_view labels, double value,
                          std::string* out);
void WriteRemoteTime(char* to, uint32_t seconds);

/// A field "attributes" of a data point of OpenTelemetry.
void AppendOtlpAttribute(std::string_view key, std::string_view value, std::string* out);

/// A field "metrics" of ScopeMetrics: a gauge with one data point. Returns where the time begins,
/// to be written by WriteOtlpTime.
size_t AppendOtlpMetric(std::string_view metric, std::string_view attributes, double value,
                        std::string* out);
void WriteOtlpTime(char* to, uint32_t seconds);

/// What stands before so many bytes of metrics to make an ExportMetricsServiceRequest of them.
std::string OtlpHead(size_t metrics_bytes);

}  // namespace hg::bench
