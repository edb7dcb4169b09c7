#pragma once
// Lines of the log about queries: slow ones, and those that were refused or ended early.

#include <cstdint>
#include <optional>
#include <string>

#include "query/running.h"

namespace hg::tsd {

/// The line about a query that has ended; none if nobody need know. `slow_ms`: from this duration
/// on a query is slow; 0 = none is.
std::optional<std::string> QueryLogLine(const query::CompletedQuery& query, int64_t slow_ms);

}  // namespace hg::tsd
