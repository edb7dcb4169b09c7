#pragma once
// PromQL functions that compute a date or a time of day in UTC. Their argument is a number of
// seconds since 1970.

#include <string_view>

namespace hg::query::promql {

using DateFunction = double (*)(double seconds);

/// Returns the PromQL function "day_of_month", "hour" and so on, or nullptr for other names. The
/// returned functions ignore fractions of a second. For NaN and times beyond 64 bits, they use the
/// second 2^63.
DateFunction FindDateFunction(std::string_view name);

}  // namespace hg::query::promql
