#pragma once
// One running request: its client, its query, its progress and its memory.
//
// A request ends early if its client disconnects, if its time limit is over, if it needs more
// memory than it may use, if it keeps memory that other requests need, if an administrator ends it,
// or if the server stops.
//
// The object exists from before the body of the request is decompressed or parsed until the
// response has been sent, so that the memory of all documents and of the response is charged.

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

/// The client of a request. Each of the functions may be empty. RunningRequest does not call them
/// after its destructor has returned.
struct RequestClient {
  std::string remote;  // "address:port" of the client; "" = there is no client
  std::string user;    // the authenticated user; "" = not authenticated, or authentication is off
  /// Returns whether the client has disconnected. RunningRequest calls this function on only one
  /// thread at a time.
  std::function<bool()> gone;
  /// RunningRequest calls this function at most once: when it finds that the request is large, or
  /// that a write has run for longer than RunningRequest::kShortWriteNs. The pool of handler
  /// threads can then start another thread, so that other requests need not wait for this one.
  std::function<void()> takes_long;
  /// Cuts the connection to the client if the response is already being sent. Another thread may
  /// call this function when it ends the request early. The function must do nothing if no part of
  /// the response was sent yet.
  std::function<void()> cut;
};

/// Returns the address in a text "address:port".
std::string AddressOf(const std::string& remote);

/// Data that /api/stats/query shows for a query. Also states whether a client may run the same
/// query twice at the same time.
struct QueryDetails {
  /// The HTTP headers of the request, except headers that other users must not see.
  std::vector<std::pair<std::string, std::string>> headers;
  /// Whether the query is rejected in this case: the same client address is already running an
  /// equal query, and Options::simultaneous_duplicates is false.
  bool refuse_repeats = false;
};

enum class RequestPhase : uint8_t { kWorking, kWaiting, kAnswering };

/// The limits of one request. For each member, 0 means no limit.
struct RequestAllowance {
  int64_t timeout_ms = 0;
  int64_t bytes_max = 0;
  /// The maximum number of steps of a small request. A request with more steps is large.
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
  /// steps. When the request becomes large, Step waits in the LargeQueryQueue.
  Status Step(uint64_t steps) override;
  /// Charges memory to the request, in bytes. LimitExceeded: the request needs more memory than one
  /// request may use. Busy: all requests together need too much memory. When the request becomes
  /// large, Charge waits in the LargeQueryQueue; it then also returns the errors of Step.
  Status Charge(int64_t bytes) override;
  Status Check() override;
  bool GiveUp() override;
  /// Limits the request to a short attempt on an event loop. After this call, MayWait returns Busy,
  /// and Step returns Busy after `steps` steps. Call this function before the first Step.
  void TryOnLoop(uint64_t steps) {
    StayOnLoop();
    small_steps_ = steps;
  }
  /// Marks the request as a write. A write continues for `ms` milliseconds after its client has
  /// disconnected, because a client may send points and close the connection at once, and the
  /// server must still store these points. `ms` must be positive. Call this function before the
  /// first Step.
  void BecomeWrite(int64_t ms) { after_client_ns_ = ms * 1'000'000; }
  /// Calls RequestClient::takes_long, unless it was called before.
  void TakeLong();
  /// Registers the request as a run of `query`. From then on, the lists of running and ended
  /// queries contain the request. Call this function at most once. InvalidArgument: the same
  /// address already runs an equal query, and repeats are not allowed.
  Status BecomeQuery(const Request& query, QueryDetails details);

  /// Abandons this run of the request, because another thread will run the request again from the
  /// start. The abandoned run is not added to the list of ended queries. Call this function before
  /// the destructor.
  void Withdraw() { withdrawn_ = true; }

  /// Tells the request that its result is complete and that the sending begins. From then on, the
  /// request no longer counts as a running query in LargeQueryQueue. The time limit does not apply
  /// to the sending, unless large queries wait for the memory that the request holds
  /// (RunningRequests::EndLongAnswers).
  void BeginAnswer();
  /// Stores the outcome of the query for the list of ended queries. Call this function before the
  /// destructor.
  void SetEnd(QueryEnd end) { end_ = std::move(end); }
  /// Stores the statistics of the query, which /api/stats/query shows.
  void SetStats(QueryStats stats) { stats_ = std::move(stats); }

  /// A write that runs for longer calls RequestClient::takes_long, because the creation of series
  /// can take seconds although it needs few steps and little memory.
  static constexpr int64_t kShortWriteNs = 50'000'000;

  [[nodiscard]] uint64_t id() const { return id_; }
  [[nodiscard]] int64_t elapsed_ns() const { return clock_.MonotonicNs() - started_ns_; }

 private:
  friend class RunningRequests;
  enum class Killed : uint8_t { kNot, kByAdministrator, kByStop, kForMemory };

  RunningRequest(RunningRequests& owner, uint64_t id, std::string endpoint, RequestClient client,
                 const RequestAllowance& allowance, MemoryBudget& budget, LargeQueryQueue& queue,
                 const Clock& clock);

  void Kill(Killed why);
  /// Returns whether the request has been sending its response for longer than the time limit of
  /// requests.
  [[nodiscard]] bool AnswersTooLong(int64_t now_ns) const;
  [[nodiscard]] bool Abandoned();
  Status LookLarge();
  void LeaveQueue();
  [[nodiscard]] std::string Named() const;

  static constexpr uint64_t kStepsPerLook = 1 << 16;

  RunningRequests& owner_;
  const uint64_t id_;
  const std::string endpoint_;
  const RequestClient client_;
  const std::string queue_client_;  // the name of the client in LargeQueryQueue
  const RequestAllowance allowance_;
  MemoryBudget& budget_;
  LargeQueryQueue& queue_;
  const Clock& clock_;
  const int64_t started_ms_;
  const int64_t started_ns_;

  std::atomic<uint64_t> steps_{0};
  std::atomic<int64_t> bytes_{0}, bytes_most_{0};
  std::atomic<Killed> killed_{Killed::kNot};
  std::atomic<bool> answering_{false}, large_{false}, long_{false}, client_gone_{false};
  std::atomic<int64_t> answer_began_ns_{0};  // monotonic time of BeginAnswer
  std::atomic<RequestPhase> phase_{RequestPhase::kWorking};
  std::mutex gone_mutex_;  // held during calls of client_.gone
  /// Monotonic time at which the request found that the client had disconnected; -1 = not found
  /// yet. Guarded by gone_mutex_.
  int64_t gone_since_ns_ = -1;

  std::mutex queue_mutex_;
  Status queue_failure_;  // the result of LargeQueryQueue::Enter; guarded by queue_mutex_
  /// Whether Enter succeeded and Leave was not called yet; guarded by queue_mutex_.
  bool queued_ = false;

  // The query of this request and its headers, possibly shortened (see CompletedQuery). BecomeQuery
  // sets these members once, while it holds the mutex of owner_.
  std::shared_ptr<const Request> query_;  // null: BecomeQuery was not called
  uint64_t query_hash_ = 0;               // the hash of query_, for fast comparison
  QueryDetails details_;

  // The following members are used by only one thread at a time.
  uint64_t small_steps_ = UINT64_MAX;  // set by TryOnLoop; not changed after the first Step
  int64_t after_client_ns_ = 0;        // set by BecomeWrite; not changed after the first Step
  bool withdrawn_ = false;
  QueryEnd end_;
  QueryStats stats_;
};

}  // namespace hg::query
