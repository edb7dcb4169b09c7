#pragma once
// Durations as PromQL writes them: "5m", "1h30m", "1d12h". Pure.

#include <cstdint>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query::promql {

/// Milliseconds of a duration: whole numbers with the units y w d h m s ms, in that order, each at
/// most once; a year has 365 days, a lone "0" needs no unit. InvalidArgument names the text.
Result<int64_t> ParseDurationMs(std::string_view text);

}  // namespace hg::query::promql
