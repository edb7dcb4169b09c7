#pragma once
// One query while it runs: who asks what, how far it is, what it holds, and what ends it early (its
// client has gone, its time is over, an administrator ended it, its memory is used up). Made by
// RunningQueries::Begin, alive until its answer is sent, so that the answer's memory counts.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "query/answer.h"
#include "query/large_lane.h"
#include "query/memory_budget.h"
#include "query/request.h"
#include "storage/base/clock.h"
#include "storage/base/work_watch.h"

namespace hg::query {

class RunningQueries;

/// Who asks. The functions may be empty, and are not called after the query's end.
struct QueryClient {
  std::string remote;                                        // "address:port"; "" = nobody
  std::vector<std::pair<std::string, std::string>> headers;  // as they may be shown
  /// The same query of the same address must not run already, where the options say so.
  bool refuse_repeats = false;
  /// Polled, by one thread at a time: nobody waits for the answer any more.
  std::function<bool()> gone;
  /// Called once, when the query turns out to be a large one: others should not wait for it.
  std::function<void()> takes_long;
  /// Called by another thread to end the sending of the answer.
  std::function<void()> cut;
};

enum class QueryPhase : uint8_t { kWorking, kWaiting, kAnswering };

/// What a query is allowed; 0 = no limit.
struct QueryAllowance {
  int64_t timeout_ms = 0;
  int64_t bytes_max = 0;
  uint64_t large_steps = 0;  // beyond these it is a large one
  int64_t large_bytes = 0;
};

/// How it ended.
struct QueryEnd {
  Status failure;       // ok: answered
  int http_status = 0;  // 0 = it was not asked over HTTP
  bool sent = false;    // all of the answer was taken
};

/// Thread-safe but for its end.
class RunningQuery : public WorkWatch {
 public:
  ~RunningQuery() override;
  RunningQuery(const RunningQuery&) = delete;
  RunningQuery& operator=(const RunningQuery&) = delete;

  /// DeadlineExceeded: out of time, ended by an administrator, or the client has gone. Busy: too
  /// many large queries. Looks once in kStepsPerLook steps.
  Status Step(uint64_t steps) override;
  /// LimitExceeded: more than one query may hold. Busy: more than all may hold together.
  Status Charge(int64_t bytes) override;
  /// What Step does now and then.
  Status Look();
  /// Before its first step. Beyond so many it asks whether it may wait (storage/base/no_wait.h).
  void StayBelow(uint64_t steps) { small_steps_ = steps; }
  /// It is given up here, to be run again elsewhere: nobody is told of its end. Before the
  /// destructor.
  void Withdraw() { withdrawn_ = true; }

  /// What it found is complete and goes out: from now on only the client's going and an
  /// administrator end it, and it stands in nobody's way.
  void BeginAnswer();
  /// Before the destructor; without it nothing is known of its end.
  void SetEnd(QueryEnd end) { end_ = std::move(end); }
  /// For /api/stats/query.
  void SetStats(QueryStats stats) { stats_ = std::move(stats); }

  [[nodiscard]] const Request& request() const { return *request_; }
  [[nodiscard]] int64_t elapsed_ns() const { return clock_.MonotonicNs() - started_ns_; }

 private:
  friend class RunningQueries;
  RunningQuery(RunningQueries& owner, uint64_t id, std::shared_ptr<const Request> request,
               QueryClient client, const QueryAllowance& allowance, MemoryBudget& budget,
               LargeLane& lane, const Clock& clock);

  void Kill();
  Status LookLarge();
  void LeaveLane();
  [[nodiscard]] std::string Named() const;

  static constexpr uint64_t kStepsPerLook = 1 << 16;

  RunningQueries& owner_;
  const uint64_t id_;
  const std::shared_ptr<const Request> request_;
  const QueryClient client_;
  const QueryAllowance allowance_;
  MemoryBudget& budget_;
  LargeLane& lane_;
  const Clock& clock_;
  const int64_t started_ms_;
  const int64_t started_ns_;

  std::atomic<uint64_t> steps_{0};
  std::atomic<int64_t> bytes_{0}, bytes_most_{0};
  std::atomic<bool> killed_{false}, answering_{false}, large_{false}, client_gone_{false};
  std::atomic<QueryPhase> phase_{QueryPhase::kWorking};
  std::mutex gone_mutex_;  // held while client_.gone is asked

  std::mutex lane_mutex_;
  Status lane_failure_;   // guarded by lane_mutex_
  bool in_lane_ = false;  // guarded by lane_mutex_

  // One thread at a time.
  uint64_t small_steps_ = UINT64_MAX;  // constant while it works
  bool withdrawn_ = false;
  QueryEnd end_;
  QueryStats stats_;
};

}  // namespace hg::query
