#pragma once
// Converts attribute values of OpenTelemetry to label values.

#include <string>

namespace hg::otlp {
class AnyValue;
}

namespace hg::http {

/// Texts are unchanged; numbers get their shortest form; lists and maps become JSON; bytes become
/// base64; no value becomes "".
std::string AttributeText(const otlp::AnyValue& value);

/// Formats a number as Prometheus does in le and quantile: "0.5", "1e+06", "+Inf", "NaN".
std::string NumberText(double number);

}  // namespace hg::http
