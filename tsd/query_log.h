#pragma once
// Log events for queries that were slow, rejected or ended early.

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

/// Returns the event for a finished query, or nullopt if nothing needs to be logged. A query of at
/// least `slow_ms` is slow; 0 = no query is slow.
std::optional<QueryLogEntry> LogEntryOf(const query::CompletedQuery& query, int64_t slow_ms);

}  // namespace hg::tsd
