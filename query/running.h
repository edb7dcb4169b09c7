#pragma once
// The queries that run at the moment and those that ran last (spec http-api.md §15.3), with the
// memory and the lane that they share.

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "query/large_lane.h"
#include "query/memory_budget.h"
#include "query/options.h"
#include "query/request.h"
#include "query/running_query.h"
#include "storage/base/clock.h"
#include "storage/base/status.h"

namespace hg::query {

/// A query that runs, as it was when asked about.
struct RunningQueryInfo {
  uint64_t id = 0;
  std::shared_ptr<const Request> request;
  std::string remote;
  std::vector<std::pair<std::string, std::string>> headers;
  int64_t started_ms = 0;
  int64_t elapsed_ns = 0;
  QueryPhase phase = QueryPhase::kWorking;
  int64_t memory_bytes = 0;
};

/// A query that ran.
struct CompletedQuery {
  uint64_t id = 0;
  std::shared_ptr<const Request> request;  // without sub-queries if it was very long
  std::string remote;
  std::vector<std::pair<std::string, std::string>> headers;
  int64_t started_ms = 0, ended_ms = 0;
  int64_t elapsed_ns = 0;
  uint64_t executed = 1;     // how often that address asked it in a row of completed queries
  size_t still_running = 0;  // other queries at its end
  int64_t memory_most_bytes = 0;
  bool client_gone = false;  // seen while it worked
  QueryEnd end;
  QueryStats stats;
};

/// Thread-safe. Outlives its queries.
class RunningQueries {
 public:
  /// Kept of those that ran, each once per address.
  static constexpr size_t kCompletedMax = 256;

  /// The clock outlives the object.
  RunningQueries(const Options& options, const Clock& clock);

  /// At most once, before the first query: told of each one's end, on its thread. Thread-safe.
  void ListenForEnds(std::function<void(const CompletedQuery&)> listener) {
    listener_ = std::move(listener);
  }

  /// InvalidArgument: the same query of the same address runs, and must not.
  Result<std::unique_ptr<RunningQuery>> Begin(const Request& request, QueryClient client);

  /// Ends a query early; false: none of that id runs.
  bool Kill(uint64_t id);

  /// Oldest first.
  [[nodiscard]] std::vector<RunningQueryInfo> Running();
  /// Newest first.
  [[nodiscard]] std::vector<std::shared_ptr<const CompletedQuery>> Completed();

  [[nodiscard]] const MemoryBudget& budget() const { return budget_; }
  [[nodiscard]] LargeLane& lane() { return lane_; }

 private:
  friend class RunningQuery;
  struct Kept {
    size_t hash = 0;  // of address and request: equal ones are found fast
    std::string address;
    std::shared_ptr<const CompletedQuery> query;
  };

  void Leave(RunningQuery* query);

  const QueryAllowance allowance_;
  const bool duplicates_allowed_;
  const Clock& clock_;
  MemoryBudget budget_;
  LargeLane lane_;
  std::function<void(const CompletedQuery&)> listener_;

  std::mutex mutex_;
  uint64_t next_id_ = 1;              // guarded by mutex_
  std::list<RunningQuery*> running_;  // guarded by mutex_
  std::deque<Kept> completed_;        // guarded by mutex_; newest first
};

}  // namespace hg::query
