#pragma once
// The list of running requests, and the list of the queries that ended last (opentsdb-http-api.md
// §15.3). The object also owns the memory budget and the queue of large requests, which all
// requests share.

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
  // The query of the request; null if the request is not a query. A long query is shortened as in
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
  /// The query. If it needs more than kKeptBytesMax bytes, this object contains only the texts of
  /// the start and of the end time, each cut to a maximum length.
  std::shared_ptr<const Request> query;
  std::string remote;
  std::vector<std::pair<std::string, std::string>> headers;
  int64_t started_ms = 0, ended_ms = 0;
  int64_t elapsed_ns = 0;
  /// Number of times that the client address has run the query since this entry exists.
  uint64_t executed = 1;
  size_t still_running = 0;  // number of other queries that were running when this query ended
  int64_t memory_most_bytes = 0;
  bool client_gone = false;  // whether the client disconnected before the request ended
  QueryEnd end;
  QueryStats stats;
};

/// All running requests of the server. The object is thread-safe, and must outlive its requests.
class RunningRequests {
 public:
  /// The maximum number of ended queries in the list. If one address repeats a query, the list has
  /// only one entry for all its runs.
  static constexpr size_t kCompletedMax = 256;
  /// The maximum memory of one query in the list of ended queries, in bytes.
  static constexpr size_t kKeptBytesMax = 64 << 10;

  /// The limits of requests come from `options`. `clock` must outlive the object.
  RunningRequests(const Options& options, const Clock& clock);

  /// Sets a function that is called at the end of each query. The threads that run queries call the
  /// function, so it must be thread-safe. Call ListenForEnds at most once, before the first
  /// request.
  void ListenForEnds(std::function<void(const CompletedQuery&)> listener) {
    listener_ = std::move(listener);
  }

  /// Creates a running request and adds it to the list. `endpoint` is an HTTP method and a path,
  /// such as "GET /api/suggest"; users see this text.
  std::unique_ptr<RunningRequest> Begin(std::string endpoint, RequestClient client);

  /// Ends the running request with this id early, on behalf of an administrator. Returns false if
  /// no running request has this id.
  bool Kill(uint64_t id);
  /// Ends all running requests early, because the server stops. A request that begins later is
  /// ended when it begins.
  void EndAll();

  /// Returns the state of all running requests; the oldest request is first.
  [[nodiscard]] std::vector<RunningRequestInfo> Running();
  /// Returns the queries that ended last; the newest one is first.
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
