#pragma once
// One running request: its client, its query, its progress and its memory.
//
// A request ends early in any of these cases: its client disconnects, its time limit is over, it
// needs more memory than it may use, it keeps memory that writes need, an administrator ends it, or
// the server stops.
//
// RunningRequests::Begin creates the object before the body of the request is read. The object
// exists until the response was sent, so that the memory of the response is charged as well.

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

/// The client of a request. The functions may be empty. RunningRequest does not call the functions
/// after the request has ended.
struct RequestClient {
  std::string remote;  // "address:port" of the client; "" = there is no client
  /// Returns whether the client has disconnected. Only one thread at a time calls this function.
  std::function<bool()> gone;
  /// RunningRequest calls this function once, when it finds that the request is large. The pool of
  /// handler threads can then start another thread, so that other requests need not wait for the
  /// large one.
  std::function<void()> takes_long;
  /// Another thread calls this function if the request is ended early while its response is being
  /// sent.
  std::function<void()> cut;
};

/// Data that /api/stats/query shows for a query, and whether a client may run the same query twice
/// at the same time.
struct QueryDetails {
  /// HTTP headers of the request, without those that other users must not see.
  std::vector<std::pair<std::string, std::string>> headers;
  /// Whether the query is rejected if the same client address is already running an equal query and
  /// the options do not allow such repeats.
  bool refuse_repeats = false;
};

enum class RequestPhase : uint8_t { kWorking, kWaiting, kAnswering };

/// The limits of one request. For each member, 0 means no limit.
struct RequestAllowance {
  int64_t timeout_ms = 0;
  int64_t bytes_max = 0;
  /// Maximum number of steps of a small request; a request with more is large.
  uint64_t large_steps = 0;
  int64_t large_bytes = 0;
};

/// The outcome of a query: its error, the HTTP status, and whether the client received the
/// response.
struct QueryEnd {
  Status failure;       // the error of the query; OK if the query succeeded
  int http_status = 0;  // status of the HTTP response; 0 = not an HTTP request
  bool sent = false;    // whether the client received the whole response
};

/// A running request. It is thread-safe, except for BecomeQuery, Withdraw, SetEnd, SetStats and the
/// destructor.
class RunningRequest : public RequestContext {
 public:
  ~RunningRequest() override;
  RunningRequest(const RunningRequest&) = delete;
  RunningRequest& operator=(const RunningRequest&) = delete;

  /// Charges work to the request. DeadlineExceeded: the time limit is over, an administrator ended
  /// the request, or the client has disconnected. Busy: there are too many large requests, the
  /// server stops, or GiveUp was called. Step checks for these errors only once in kStepsPerLook
  /// steps.
  Status Step(uint64_t steps) override;
  /// Charges memory to the request. LimitExceeded: the request needs more memory than one request
  /// may use. Busy: all requests together need too much memory.
  Status Charge(int64_t bytes) override;
  Status Check() override;
  bool GiveUp() override;
  /// Limits the request to a short try on an event loop. Afterwards, MayWait returns an error, and
  /// Step returns an error after `steps` steps. Call this function before the first Step.
  void TryOnLoop(uint64_t steps) {
    StayOnLoop();
    small_steps_ = steps;
  }
  /// Lets the request continue for `ms` milliseconds after its client has disconnected. Call this
  /// function before the first Step. It is used for writes: a client may send points and close the
  /// connection at once, and the server must still store these points.
  void OutliveClient(int64_t ms) { after_client_ns_ = ms * 1'000'000; }
  /// Marks the request as a run of this query. The query is then in the list of running queries,
  /// and after its end in the list of ended queries. Call this function at most once.
  /// InvalidArgument: the same address already runs an equal query, and repeats are not allowed.
  Status BecomeQuery(const Request& query, QueryDetails details);

  /// Abandons this run of the request, because another thread will run the request again from the
  /// start. The end of the abandoned run is not reported. Call this function before the destructor.
  void Withdraw() { withdrawn_ = true; }

  /// Call this function when the result is complete and sending begins. From then on, the time
  /// limit does not apply to the request. The function also gives up the request's place in
  /// LargeQueryQueue.
  void BeginAnswer();
  /// Stores how the query ended. Call this function before the destructor.
  void SetEnd(QueryEnd end) { end_ = std::move(end); }
  /// Stores the statistics that /api/stats/query shows.
  void SetStats(QueryStats stats) { stats_ = std::move(stats); }

  [[nodiscard]] uint64_t id() const { return id_; }
  [[nodiscard]] int64_t elapsed_ns() const { return clock_.MonotonicNs() - started_ns_; }

 private:
  friend class RunningRequests;
  enum class Killed : uint8_t { kNot, kByAdministrator, kByStop, kForMemory };

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
  std::mutex gone_mutex_;  // held during calls of client_.gone
  /// Time when the client disconnected; -1 = it is connected; guarded by gone_mutex_.
  int64_t gone_since_ns_ = -1;

  std::mutex queue_mutex_;
  Status queue_failure_;  // error of LargeQueryQueue::Enter; guarded by queue_mutex_
  bool queued_ = false;   // whether the request is in LargeQueryQueue; guarded by queue_mutex_

  // The query of this request. BecomeQuery sets this member once, while it holds the mutex of
  // owner_.
  std::shared_ptr<const Request> query_;  // null: the request is not known to be a query
  QueryDetails details_;

  // The following members are used by only one thread at a time.
  uint64_t small_steps_ = UINT64_MAX;  // set by TryOnLoop; not changed after the first Step
  int64_t after_client_ns_ = 0;        // set by OutliveClient; not changed after the first Step
  bool withdrawn_ = false;
  QueryEnd end_;
  QueryStats stats_;
};

}  // namespace hg::query
