#pragma once
// Encodes points in the two protobuf formats of the load: Prometheus' remote write and OTLP. Each
// point is a field of the outermost message, so points can be appended one after another. To send
// points again, the client overwrites only the times, in place.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hg::bench {

/// Appends a field "labels" of prometheus.TimeSeries to `*out`. The caller must append the labels
/// in ascending order of their names.
void AppendRemoteLabel(std::string_view name, std::string_view value, std::string* out);

/// Appends a field "timeseries" of prometheus.WriteRequest with one sample to `*out`. `labels` are
/// the encoded labels, without the metric name. Returns the position in `*out` at which
/// WriteRemoteTime must write the time.
size_t AppendRemoteSeries(std::string_view metric, std::string_view labels, double value,
                          std::string* out);
void WriteRemoteTime(char* to, uint32_t seconds);

/// Appends a field "attributes" of an OpenTelemetry data point to `*out`.
void AppendOtlpAttribute(std::string_view key, std::string_view value, std::string* out);

/// Appends a field "metrics" of ScopeMetrics to `*out`: a gauge with one data point. `attributes`
/// are the encoded attributes. Returns the position in `*out` at which WriteOtlpTime must write the
/// time.
size_t AppendOtlpMetric(std::string_view metric, std::string_view attributes, double value,
                        std::string* out);
void WriteOtlpTime(char* to, uint32_t seconds);

/// Returns the start of an ExportMetricsServiceRequest. The caller must append `metrics_bytes`
/// bytes of fields "metrics" to it.
std::string OtlpHead(size_t metrics_bytes);

}  // namespace hg::bench
