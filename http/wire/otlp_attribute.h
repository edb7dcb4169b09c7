#pragma once
// Converts attribute values of OpenTelemetry to label values.

#include <string>

namespace hg::otlp {
class AnyValue;
}

namespace hg::http {

/// Returns texts unchanged, numbers in their shortest form, lists and maps as JSON, bytes as
/// base64, and "" if there is no value.
std::string AttributeText(const otlp::AnyValue& value);

/// Formats a number as Prometheus does in `le` and `quantile`: "0.5", "1e+06", "+Inf", "NaN".
std::string NumberText(double number);

}  // namespace hg::http
