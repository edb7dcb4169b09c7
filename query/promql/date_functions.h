#pragma once
// PromQL functions that compute a part of a date or of a time of day, in UTC. Their argument is a
// number of seconds since 1970.

#include <string_view>

namespace hg::query::promql {

using DateFunction = double (*)(double seconds);

/// Returns the PromQL date function `name` ("day_of_month", "hour" and so on), or nullptr for other
/// names. The returned functions ignore fractions of a second. NaN and numbers of seconds that do
/// not fit 64 bits are treated as 2^63 seconds.
DateFunction FindDateFunction(std::string_view name);

}  // namespace hg::query::promql
