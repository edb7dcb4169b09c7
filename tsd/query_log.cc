#include "tsd/query_log.h"

#include "query/query_text.h"

namespace hg::tsd {
namespace {

constexpr size_t kTextBytesMax = 4096;

/// Failures that tell of too much asked, not of a mistake in what was asked.
bool IsRefusal(StatusCode code) {
  return code == StatusCode::kLimitExceeded || code == StatusCode::kDeadlineExceeded ||
         code == StatusCode::kBusy;
}

}  // namespace

std::optional<std::string> QueryLogLine(const query::CompletedQuery& query, int64_t slow_ms) {
  const int64_t took_ms = query.elapsed_ns / 1'000'000;
  const Status& failure = query.end.failure;
  // Impatient clients are everyday life.
  const bool refused = IsRefusal(failure.code()) && !query.client_gone;
  if (!refused && (slow_ms == 0 || took_ms < slow_ms)) return std::nullopt;
  std::string line = refused ? "query ended early: " : "slow query: ";
  line += std::to_string(took_ms) + " ms, at most " +
          std::to_string(query.memory_most_bytes >> 10) + " KB, of " +
          (query.remote.empty() ? "nobody" : query.remote) + ": " +
          query::QueryText(*query.request, kTextBytesMax);
  if (!failure.ok()) line += ": " + failure.ToString();
  return line;
}

}  // namespace hg::tsd
