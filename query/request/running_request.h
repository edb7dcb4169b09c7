#pragma once
// One running request: its client, its query, its progress and its memory. A request ends early in
// five cases: its client has gone, its time limit is over, it needs more memory than it may use, an
// administrator ends it, or the server stops. RunningRequests::Begin creates the object before it
// reads the request's body. The object lives until the response is sent, so that the memory of the
// response counts as well.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "query/request/answer.h"
#include "query/request/large_query_queue.h"
#include "query/request/memory_budget.h"
#include "query/request/request.h"
#include "storage/base/clock.h"
#include "storage/base/request_context.h"

namespace hg::query {

class RunningRequests;

/// The client of a request. The functions may be empty. They are not called after the end of the
/// request.
struct RequestClient {
  std::string remote;  // "address:port"; "" = no client
  /// Returns whether the client no longer waits for the response. Called by one thread at a time.
  std::function<bool()> gone;
  /// Called once when the request turns out to be large. The pool of handler threads can then start
  /// another thread, so that other requests need not wait for this one.
  std::function<void()> takes_long;
  /// Called by another thread if the request is ended while its response is being sent.
  std::function<void()> cut;
};

/// The data that /api/stats/query shows of a query in addition to the query itself, and whether the
/// query may run twice at once.
struct QueryDetails {
  std::vector<std::pair<std::string, std::string>> headers;  // in the form that may be shown
  /// Whether to refuse the query if the same address already runs an equal one and the options do
  /// not allow that.
  bool refuse_repeats = false;
};

enum class RequestPhase : uint8_t { kWorking, kWaiting, kAnswering };

/// The limits of a request. 0 means no limit.
struct RequestAllowance {
  int64_t timeout_ms = 0;
  int64_t bytes_max = 0;
  uint64_t large_steps = 0;  // a request with more steps is large
  int64_t large_bytes = 0;
};

/// The outcome of a query.
struct QueryEnd {
  Status failure;       // OK if the query succeeded
  int http_status = 0;  // 0 = not an HTTP request
  bool sent = false;    // the client received the whole response
};

/// Thread-safe, except for BecomeQuery, Withdraw, SetEnd, SetStats and the destructor.
class RunningRequest : public RequestContext {
 public:
  ~RunningRequest() override;
  RunningRequest(const RunningRequest&) = delete;
  RunningRequest& operator=(const RunningRequest&) = delete;

  /// Reports work. DeadlineExceeded: the time limit is over, an administrator ended the request, or
  /// the client has gone. Busy: too many large requests, or the server stops. These conditions are
  /// checked once in kStepsPerLook steps.
  Status Step(uint64_t steps) override;
  /// Charges memory. LimitExceeded: the request needs more than one request may use. Busy: all
  /// requests together need too much.
  Status Charge(int64_t bytes) override;
  Status Check() override;
  /// Call this function before the first Step. The request is tried on an event loop: MayWait
  /// refuses, and Step refuses after `steps` steps.
  void TryOnLoop(uint64_t steps) {
    StayOnLoop();
    small_steps_ = steps;
  }
  /// Call this function before the first Step. The request continues for `ms` milliseconds after
  /// its client has gone. It is used for writes: a client may send points and close the connection
  /// at once, and its points must still be stored.
  void OutliveClient(int64_t ms) { after_client_ns_ = ms * 1'000'000; }
  /// Marks the request as this query: it is listed as a query and remembered when it ends. Call
  /// this function at most once. InvalidArgument: the same address already runs an equal query, and
  /// such repeats are refused.
  Status BecomeQuery(const Request& query, QueryDetails details);

  /// Abandons the request, because another thread will run it again from the start. The end of this
  /// run is not reported. Call this function before the destructor.
  void Withdraw() { withdrawn_ = true; }

  /// Call this function when the result is complete and its sending begins. From then on the time
  /// limit does not apply, and the request gives up its place in LargeQueryQueue.
  void BeginAnswer();
  /// Records how the query ended. Call this function before the destructor.
  void SetEnd(QueryEnd end) { end_ = std::move(end); }
  /// Records statistics for /api/stats/query.
  void SetStats(QueryStats stats) { stats_ = std::move(stats); }

  [[nodiscard]] uint64_t id() const { return id_; }
  [[nodiscard]] int64_t elapsed_ns() const { return clock_.MonotonicNs() - started_ns_; }

 private:
  friend class RunningRequests;
  enum class Killed : uint8_t { kNot, kByAdministrator, kByStop };

  RunningRequest(RunningRequests& owner, uint64_t id, std::string endpoint, RequestClient client,
                 const RequestAllowance& allowance, MemoryBudget& budget, LargeQueryQueue& queue,
                 const Clock& clock);

  void Kill(Killed why);
  [[nodiscard]] bool Abandoned();
  Status LookLarge();
  void LeaveQueue();
  [[nodiscard]] std::string Named() const;

  static constexpr uint64_t kStepsPerLook = 1 << 16;

  RunningRequests& owner_;
  const uint64_t id_;
  const std::string endpoint_;
  const RequestClient client_;
  const RequestAllowance allowance_;
  MemoryBudget& budget_;
  LargeQueryQueue& queue_;
  const Clock& clock_;
  const int64_t started_ms_;
  const int64_t started_ns_;

  std::atomic<uint64_t> steps_{0};
  std::atomic<int64_t> bytes_{0}, bytes_most_{0};
  std::atomic<Killed> killed_{Killed::kNot};
  std::atomic<bool> answering_{false}, large_{false}, client_gone_{false};
  std::atomic<RequestPhase> phase_{RequestPhase::kWorking};
  std::mutex gone_mutex_;       // held while client_.gone is called
  int64_t gone_since_ns_ = -1;  // guarded by gone_mutex_; -1 = the client has not gone

  std::mutex queue_mutex_;
  Status queue_failure_;  // guarded by queue_mutex_
  bool queued_ = false;   // guarded by queue_mutex_

  // Written once, by BecomeQuery, under the mutex of owner_.
  std::shared_ptr<const Request> query_;  // null: not a query, or not yet known to be one
  QueryDetails details_;

  // The following members are used by one thread at a time.
  uint64_t small_steps_ = UINT64_MAX;  // constant after the first Step
  int64_t after_client_ns_ = 0;        // constant after the first Step
  bool withdrawn_ = false;
  QueryEnd end_;
  QueryStats stats_;
};

}  // namespace hg::query
