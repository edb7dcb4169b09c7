#include "tsd/query_log.h"

#include "query/request/query_text.h"

namespace hg::tsd {
namespace {

constexpr size_t kTextBytesMax = 4096;

/// Returns whether the failure means that a limit was exceeded, and not that the query was invalid.
bool IsRefusal(StatusCode code) {
  return code == StatusCode::kLimitExceeded || code == StatusCode::kDeadlineExceeded ||
         code == StatusCode::kBusy;
}

}  // namespace

std::optional<QueryLogEntry> LogEntryOf(const query::CompletedQuery& query, int64_t slow_ms) {
  const int64_t took_ms = query.elapsed_ns / 1'000'000;
  const Status& failure = query.end.failure;
  // Clients that disconnect early are common and not logged.
  const bool refused = IsRefusal(failure.code()) && !query.client_gone;
  if (!refused && (slow_ms == 0 || took_ms < slow_ms)) return std::nullopt;
  QueryLogEntry entry{refused ? "query ended early" : "slow query", {}};
  entry.fields = {{"id", query.id},
                  {"remote", query.remote},
                  {"duration_ms", took_ms},
                  {"memory_kb", query.memory_most_bytes >> 10},
                  {"query", query::QueryText(*query.query, kTextBytesMax)}};
  if (!failure.ok()) entry.fields.emplace_back(failure);
  return entry;
}

}  // namespace hg::tsd
