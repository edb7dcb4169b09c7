#pragma once
// The list of running requests, and the list of the queries that ended last (opentsdb-http-api.md
// §15.3). The object also owns the memory budget and the queue of large requests, which all
// requests share.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
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
  // The query of the request; null if the request is not a query. A long query and its headers are
  // shortened as in CompletedQuery.
  std::shared_ptr<const Request> query;
  std::string remote;
  std::vector<std::pair<std::string, std::string>> headers;
  int64_t started_ms = 0;
  int64_t elapsed_ns = 0;
  RequestPhase phase = RequestPhase::kWorking;
  int64_t memory_bytes = 0;
};

/// Sums and maxima over the statistics of all sub-queries of a query.
struct QueryTotals {
  size_t sub_queries = 0;
  SubQueryStats sum;   // `scan` is empty
  SubQueryStats most;  // the maxima of the times; the other members are 0 or empty
};

QueryTotals TotalsOf(const std::vector<SubQueryStats>& sub_queries);

/// A query that has ended. `query`, `headers` and `stats` together need at most
/// RunningRequests::kKeptBytesMax bytes. If they needed more, elements at the ends of the lists
/// `stats.queries` and `headers` are missing.
struct CompletedQuery {
  uint64_t id = 0;
  /// The query. If it alone needs more than kKeptBytesMax bytes, this object contains only the
  /// texts of the start and of the end time, each cut to a maximum length.
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
  QueryTotals totals;  // of all sub-queries, also of those that are missing in `stats`
};

/// All running requests of the server. The object is thread-safe, and must outlive its requests.
class RunningRequests {
 public:
  /// The maximum number of ended queries in the list. If one address repeats a query, the list has
  /// only one entry for all its runs.
  static constexpr size_t kCompletedMax = 256;
  /// The maximum memory of one query in the list of ended queries, in bytes. The text of an error,
  /// which has a limit of its own, is not included.
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

  /// Returns the state of running requests with ids greater than `after`. The oldest request, which
  /// has the smallest id, is first. Returns at most `count_max` requests.
  [[nodiscard]] std::vector<RunningRequestInfo> Running(uint64_t after = 0,
                                                        size_t count_max = SIZE_MAX);
  /// Returns the queries that ended last; the newest one is first.
  [[nodiscard]] std::vector<std::shared_ptr<const CompletedQuery>> Completed();

  [[nodiscard]] const MemoryBudget& budget() const { return budget_; }
  [[nodiscard]] LargeQueryQueue& large_queries() { return queue_; }

 private:
  friend class RunningRequest;
  struct Kept {
    uint64_t hash = 0;  // the hash of query->query, for fast comparison
    std::string address;
    std::shared_ptr<const CompletedQuery> query;
  };

  Status Enlist(RunningRequest* request, const Request& query, QueryDetails details);
  /// If large queries wait because too little memory is free, ends requests that have been sending
  /// their responses for longer than the time limit of requests, because a client that reads slowly
  /// could otherwise keep the memory for an hour. The requests with the most memory end first,
  /// until a large query can start. If all these requests together do not hold enough memory, none
  /// ends. Waiting large queries call this function often; a call within a second of the previous
  /// one does nothing.
  void EndLongAnswers();
  void Leave(RunningRequest* request);
  /// Removes the request from running_ if it is there. The caller must hold mutex_.
  void Remove(const RunningRequest* request);

  const RequestAllowance allowance_;
  const bool duplicates_allowed_;
  const Clock& clock_;
  MemoryBudget budget_;
  LargeQueryQueue queue_;
  std::function<void(const CompletedQuery&)> listener_;

  std::mutex mutex_;
  // mutex_ guards the following members.
  uint64_t next_id_ = 1;                         // id of the next request
  bool stopping_ = false;                        // whether EndAll was called
  int64_t ended_answers_ns_ = 0;                 // monotonic time of the last EndLongAnswers
  std::map<uint64_t, RunningRequest*> running_;  // the running requests by id
  size_t running_queries_ = 0;                   // how many of running_ are queries
  std::deque<Kept> completed_;                   // ended queries, newest first
};

}  // namespace hg::query
