#pragma once
// Creates log events for queries that were slow, rejected or ended early.

#include <cstdint>
#include <optional>
#include <string>

#include "query/request/running_requests.h"
#include "tsd/log.h"
#include "tsd/log_limit.h"

namespace hg::tsd {

struct QueryLogEntry {
  std::string message;
  LogFields fields;
};

/// Returns the log event for a finished query, or nullopt if the query need not be logged. A query
/// is slow if it took at least `slow_ms` milliseconds. If `slow_ms` is 0, no query is slow.
std::optional<QueryLogEntry> LogEntryOf(const query::CompletedQuery& query, int64_t slow_ms);

/// Logs queries that were slow, rejected or ended early. A client can send thousands of queries per
/// second that the daemon rejects. Therefore, only some of the queries that were not slow are
/// logged. The object is thread-safe.
class QueryLog {
 public:
  /// A query that took at least `slow_ms` milliseconds is slow; 0 means that no query is slow.
  /// `clock` must outlive the object.
  QueryLog(const Clock& clock, int64_t slow_ms) : slow_ms_(slow_ms), limit_(clock, kBurst) {}

  void Ended(const query::CompletedQuery& query);

 private:
  static constexpr int kBurst = 20;  // events that are logged at once after a pause of 20 seconds

  const int64_t slow_ms_;
  LogLimit limit_;
};

}  // namespace hg::tsd
