#pragma once
// Durations in PromQL's notation: "5m", "1h30m", "1d12h".

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query::promql {

/// Returns the milliseconds of a duration. A duration consists of whole numbers with the units y w
/// d h m s ms, in this order, each at most once. A year has 365 days. A lone "0" needs no unit. The
/// message of InvalidArgument contains the text.
Result<int64_t> ParseDurationMs(std::string_view text);

/// Returns the text of a duration in the form of Prometheus, with the fewest units. Years and weeks
/// are used only if the duration is a whole number of them. `ms` is not negative.
std::string DurationText(int64_t ms);

}  // namespace hg::query::promql
