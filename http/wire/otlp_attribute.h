#pragma once
// Converts the values of OpenTelemetry attributes to label values.

#include <string>

namespace hg::otlp {
class AnyValue;
}

namespace hg::http {

/// Returns the text of an attribute value. Texts stay unchanged, and numbers are printed in their
/// shortest form. Lists and maps become JSON, bytes become base64, and a missing value becomes "".
std::string AttributeText(const otlp::AnyValue& value);

/// Returns the text of a number in the form that Prometheus uses in `le` and `quantile`: "0.5",
/// "1e+06", "+Inf", "NaN".
std::string NumberText(double number);

}  // namespace hg::http
