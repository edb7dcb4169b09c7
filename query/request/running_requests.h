#pragma once
// The list of running requests, and the list of the queries that ended last (opentsdb-http-api.md
// §15.3). The object also has the memory budget and the queue of large requests, which all requests
// share.

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

/// The state of a running request at one moment.
struct RunningRequestInfo {
  uint64_t id = 0;
  std::string endpoint;  // HTTP method and path, for example "GET /api/suggest"
  // The query of the request; null if the request is not a query. A long query is shortened in the
  // same way as CompletedQuery::query.
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
  /// The text of the query. If the query needs more than kKeptBytesMax bytes, only the texts of its
  /// start and end time are stored, each cut to a maximum length.
  std::shared_ptr<const Request> query;
  std::string remote;
  std::vector<std::pair<std::string, std::string>> headers;
  int64_t started_ms = 0, ended_ms = 0;
  int64_t elapsed_ns = 0;
  uint64_t executed = 1;     // number of times this address ran the query since this entry exists
  size_t still_running = 0;  // number of other queries that were running when this query ended
  int64_t memory_most_bytes = 0;
  bool client_gone = false;  // whether the client disconnected while the query ran
  QueryEnd end;
  QueryStats stats;
};

/// All running requests of the server. The object is thread-safe, and must outlive its requests.
class RunningRequests {
 public:
  /// The maximum number of ended queries that the server remembers. If one address repeats a query,
  /// all its runs share one entry.
  static constexpr size_t kCompletedMax = 256;
  /// The maximum memory of one remembered query, in bytes.
  static constexpr size_t kKeptBytesMax = 64 << 10;

  /// `clock` must outlive the object.
  RunningRequests(const Options& options, const Clock& clock);

  /// Sets a function that is called at the end of each query. Call ListenForEnds at most once,
  /// before the first request. The threads that run queries call the function, so it must be
  /// thread-safe.
  void ListenForEnds(std::function<void(const CompletedQuery&)> listener) {
    listener_ = std::move(listener);
  }

  /// Creates a running request. `endpoint` is an HTTP method and a path; users see this text.
  std::unique_ptr<RunningRequest> Begin(std::string endpoint, RequestClient client);

  /// Ends a running request early. Returns false if no running request has this id.
  bool Kill(uint64_t id);
  /// Ends all running requests. Requests that begin later are ended when they begin, because the
  /// server stops.
  void EndAll();

  /// Returns the running requests; the oldest request is first.
  [[nodiscard]] std::vector<RunningRequestInfo> Running();
  /// Returns the queries that have ended; the newest one is first.
  [[nodiscard]] std::vector<std::shared_ptr<const CompletedQuery>> Completed();

  [[nodiscard]] const MemoryBudget& budget() const { return budget_; }
  [[nodiscard]] LargeQueryQueue& large_queries() { return queue_; }

 private:
  friend class RunningRequest;
  struct Kept {
    size_t hash = 0;  // hash of the address and the request, for fast comparison
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
  uint64_t next_id_ = 1;                // id of the next request; guarded by mutex_
  bool stopping_ = false;               // whether EndAll was called; guarded by mutex_
  std::list<RunningRequest*> running_;  // the running requests; guarded by mutex_
  std::deque<Kept> completed_;          // ended queries, newest first; guarded by mutex_
};

}  // namespace hg::query
