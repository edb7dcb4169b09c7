#pragma once
// Values of OpenTelemetry's attributes as the values of labels.

#include <string>

namespace hg::otlp {
class AnyValue;
}

namespace hg::http {

/// Texts as they are, numbers in their shortest form, lists and maps as JSON, bytes in base64; ""
/// for none.
std::string AttributeText(const otlp::AnyValue& value);

/// A number as Prometheus writes it into le and quantile: "0.5", "1e+06", "+Inf", "NaN".
std::string NumberText(double number);

}  // namespace hg::http
