#pragma once
// Events of the log about queries: slow ones, and those that were refused or ended early.

#include <cstdint>
#include <optional>
#include <string>

#include "query/running.h"
#include "tsd/log.h"

namespace hg::tsd {

struct QueryLogEntry {
  std::string message;
  LogFields fields;
};

/// The event of a query that has ended; none if nobody need know. `slow_ms`: from this duration
/// on a query is slow; 0 = none is.
std::optional<QueryLogEntry> LogEntryOf(const query::CompletedQuery& query, int64_t slow_ms);

}  // namespace hg::tsd
