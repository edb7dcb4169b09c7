#pragma once
// Creates log events for queries that were slow, rejected or ended early.

#include <cstdint>
#include <optional>
#include <string>

#include "query/request/running_requests.h"
#include "tsd/log.h"

namespace hg::tsd {

struct QueryLogEntry {
  std::string message;
  LogFields fields;
};

/// Returns the log event for a finished query, or nullopt if the query need not be logged. A query
/// is slow if it took at least `slow_ms` milliseconds. If `slow_ms` is 0, no query is slow.
std::optional<QueryLogEntry> LogEntryOf(const query::CompletedQuery& query, int64_t slow_ms);

}  // namespace hg::tsd
