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

void QueryLog::Ended(const query::CompletedQuery& query) {
  std::optional<QueryLogEntry> entry = LogEntryOf(query, slow_ms_);
  if (!entry) return;
  const bool slow = slow_ms_ != 0 && query.elapsed_ns / 1'000'000 >= slow_ms_;
  if (!slow) {
    const std::optional<int64_t> untold = limit_.Admit();
    if (!untold) return;
    if (*untold > 0) entry->fields.emplace_back("untold", *untold);
  }
  LogWarning("query", entry->message, entry->fields);
}

}  // namespace hg::tsd
