#pragma once
// One running request: its client, its query, its progress and its memory. A request ends early if
// its client disconnects, if its time limit is over, if it needs more memory than it may use, if an
// administrator ends it, or if the server stops. RunningRequests::Begin creates the object before
// the body of the request is read. The object exists until the response was sent, so that the
// memory of the response counts as well.

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

/// The client of a request. The functions may be empty. RunningRequest does not call them after the
/// request has ended.
struct RequestClient {
  std::string remote;  // "address:port"; "" = no client
  /// Returns whether the client no longer waits for the response. One thread at a time calls it.
  std::function<bool()> gone;
  /// Called once when the request is found to be large. The pool of handler threads can then start
  /// another thread, so that other requests need not wait for this one.
  std::function<void()> takes_long;
  /// Another thread calls this function if the request is ended while its response is being sent.
  std::function<void()> cut;
};

/// Data that /api/stats/query shows in addition to a query, and whether a client may run the query
/// twice at the same time.
struct QueryDetails {
  std::vector<std::pair<std::string, std::string>> headers;  // those that other users may see
  /// Whether the query is rejected if the same address is already running an equal query and the
  /// options do not allow this.
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

/// How a query ended.
struct QueryEnd {
  Status failure;       // OK if the query succeeded
  int http_status = 0;  // 0 = not an HTTP request
  bool sent = false;    // whether the client received the whole response
};

/// Thread-safe, except for BecomeQuery, Withdraw, SetEnd, SetStats and the destructor.
class RunningRequest : public RequestContext {
 public:
  ~RunningRequest() override;
  RunningRequest(const RunningRequest&) = delete;
  RunningRequest& operator=(const RunningRequest&) = delete;

  /// Reports work. DeadlineExceeded: the time limit is over, an administrator ended the request, or
  /// the client has disconnected. Busy: too many large requests, or the server stops. These
  /// conditions are checked once in kStepsPerLook steps.
  Status Step(uint64_t steps) override;
  /// Charges memory. LimitExceeded: this request needs more memory than one request may use. Busy:
  /// all requests together need too much memory.
  Status Charge(int64_t bytes) override;
  Status Check() override;
  /// Call this function before the first Step. The request is tried on an event loop: MayWait
  /// returns an error, and so does Step after `steps` steps.
  void TryOnLoop(uint64_t steps) {
    StayOnLoop();
    small_steps_ = steps;
  }
  /// Call this function before the first Step. The request then continues for `ms` milliseconds
  /// after its client has disconnected. This is for writes: a client may send points and close the
  /// connection at once, and its points must still be stored.
  void OutliveClient(int64_t ms) { after_client_ns_ = ms * 1'000'000; }
  /// Marks the request as a run of this query. The query is then listed, and remembered when it
  /// ends. Call this function at most once. InvalidArgument: the same address already runs an equal
  /// query, and such repeats are not allowed.
  Status BecomeQuery(const Request& query, QueryDetails details);

  /// Abandons the request, because another thread will run it again from the start. The end of this
  /// run is then not reported. Call this function before the destructor.
  void Withdraw() { withdrawn_ = true; }

  /// Call this function when the result is complete and sending begins. From then on, the time
  /// limit does not apply. The request gives up its place in LargeQueryQueue.
  void BeginAnswer();
  /// Stores how the query ended. Call this function before the destructor.
  void SetEnd(QueryEnd end) { end_ = std::move(end); }
  /// Stores statistics for /api/stats/query.
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
  int64_t gone_since_ns_ = -1;  // guarded by gone_mutex_; -1 = the client has not disconnected

  std::mutex queue_mutex_;
  Status queue_failure_;  // guarded by queue_mutex_
  bool queued_ = false;   // guarded by queue_mutex_

  // BecomeQuery sets this member once, under the mutex of owner_.
  std::shared_ptr<const Request> query_;  // null: not a query, or not yet known to be a query
  QueryDetails details_;

  // Only one thread at a time uses the following members.
  uint64_t small_steps_ = UINT64_MAX;  // not changed after the first Step
  int64_t after_client_ns_ = 0;        // not changed after the first Step
  bool withdrawn_ = false;
  QueryEnd end_;
  QueryStats stats_;
};

}  // namespace hg::query
