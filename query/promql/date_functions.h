#pragma once
// Functions of a time in UTC: seconds since 1970. Pure.

#include <string_view>

namespace hg::query::promql {

using DateFunction = double (*)(double seconds);

/// "day_of_month", "hour" and so on; nullptr: it is none. Fractions of a second do not count, what
/// is no time gives NaN.
DateFunction FindDateFunction(std::string_view name);

}  // namespace hg::query::promql
