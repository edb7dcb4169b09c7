#pragma once
// Parses and prints durations in PromQL's notation: "5m", "1h30m", "1d12h".

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query::promql {

/// Parses a duration and returns it in milliseconds. The text consists of whole numbers with the
/// units y w d h m s ms, in this order, each unit at most once. A year has 365 days. The text "0"
/// needs no unit. The message of InvalidArgument contains `text`.
Result<int64_t> ParseDurationMs(std::string_view text);

/// Returns the text of a duration as Prometheus prints it, with as few units as possible. Years and
/// weeks are used only if the duration is a whole number of years or weeks. `ms` must not be
/// negative.
std::string DurationText(int64_t ms);

}  // namespace hg::query::promql
