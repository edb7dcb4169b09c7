#pragma once
// The requests that run now, and the queries that ran last (opentsdb-http-api.md §15.3). Also holds
// the memory budget and the queue of large requests, which all requests share.

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "query/request/large_query_queue.h"
#include "query/request/memory_budget.h"
#include "query/request/options.h"
#include "query/request/request.h"
#include "query/request/running_request.h"
#include "storage/base/clock.h"
#include "storage/base/status.h"

namespace hg::query {

/// A snapshot of a running request.
struct RunningRequestInfo {
  uint64_t id = 0;
  std::string endpoint;  // method and path, for example "GET /api/suggest"
  // The query; null if the request is not a query. Long queries are shortened as in
  // CompletedQuery::query.
  std::shared_ptr<const Request> query;
  std::string remote;
  std::vector<std::pair<std::string, std::string>> headers;
  int64_t started_ms = 0;
  int64_t elapsed_ns = 0;
  RequestPhase phase = RequestPhase::kWorking;
  int64_t memory_bytes = 0;
};

/// A query that has ended.
struct CompletedQuery {
  uint64_t id = 0;
  /// The query. If it needs more than kKeptBytesMax bytes, only the texts of its start and end time
  /// are kept, each cut to a maximum length.
  std::shared_ptr<const Request> query;
  std::string remote;
  std::vector<std::pair<std::string, std::string>> headers;
  int64_t started_ms = 0, ended_ms = 0;
  int64_t elapsed_ns = 0;
  uint64_t executed = 1;     // how often the address ran this query since it entered the list
  size_t still_running = 0;  // other queries that ran when this one ended
  int64_t memory_most_bytes = 0;
  bool client_gone = false;  // the client was found to be gone while the query ran
  QueryEnd end;
  QueryStats stats;
};

/// Thread-safe. Must outlive its requests.
class RunningRequests {
 public:
  /// The maximum number of ended queries that are remembered. If one address repeats a query, all
  /// runs share one entry.
  static constexpr size_t kCompletedMax = 256;
  /// The maximum memory that one remembered query may take.
  static constexpr size_t kKeptBytesMax = 64 << 10;

  /// The clock must outlive the object.
  RunningRequests(const Options& options, const Clock& clock);

  /// Sets a listener for the end of each query. Call this function at most once, before the first
  /// request. The listener is called on the thread of the query, so it must be thread-safe.
  void ListenForEnds(std::function<void(const CompletedQuery&)> listener) {
    listener_ = std::move(listener);
  }

  /// Creates a request. `endpoint` is a method and a path; it is shown to users.
  std::unique_ptr<RunningRequest> Begin(std::string endpoint, RequestClient client);

  /// Ends a request early. Returns false if no request has this id.
  bool Kill(uint64_t id);
  /// Ends all requests, running and future ones, because the server stops.
  void EndAll();

  /// Returns the running requests, oldest first.
  [[nodiscard]] std::vector<RunningRequestInfo> Running();
  /// Returns the queries that have ended, newest first.
  [[nodiscard]] std::vector<std::shared_ptr<const CompletedQuery>> Completed();

  [[nodiscard]] const MemoryBudget& budget() const { return budget_; }
  [[nodiscard]] LargeQueryQueue& large_queries() { return queue_; }

 private:
  friend class RunningRequest;
  struct Kept {
    size_t hash = 0;  // hash of address and request, for a fast search
    std::string address;
    std::shared_ptr<const CompletedQuery> query;
  };

  Status Enlist(RunningRequest* request, const Request& query, QueryDetails details);
  void Leave(RunningRequest* request);

  const RequestAllowance allowance_;
  const bool duplicates_allowed_;
  const Clock& clock_;
  MemoryBudget budget_;
  LargeQueryQueue queue_;
  std::function<void(const CompletedQuery&)> listener_;

  std::mutex mutex_;
  uint64_t next_id_ = 1;                // guarded by mutex_
  bool stopping_ = false;               // guarded by mutex_
  std::list<RunningRequest*> running_;  // guarded by mutex_
  std::deque<Kept> completed_;          // guarded by mutex_; newest first
};

}  // namespace hg::query
