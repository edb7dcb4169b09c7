#include "query/request/running_request.h"

#include "query/request/query_text.h"
#include "query/request/running_requests.h"

namespace hg::query {
namespace {

constexpr size_t kNamedBytesMax = 1024;  // maximum for a query's text in an error message
constexpr int64_t kMega = 1 << 20;

/// Returns the name of the client in LargeQueryQueue: the user, or else the address. A request
/// without a client is a client of its own, because `id` is unique. Addresses contain no blanks, so
/// these three kinds of names are distinct.
std::string QueueClient(const RequestClient& client, uint64_t id) {
  if (!client.user.empty()) return "user " + client.user;
  if (!client.remote.empty()) return AddressOf(client.remote);
  return "request " + std::to_string(id);
}

}  // namespace

std::string AddressOf(const std::string& remote) { return remote.substr(0, remote.rfind(':')); }

RunningRequest::RunningRequest(RunningRequests& owner, uint64_t id, std::string endpoint,
                               RequestClient client, const RequestAllowance& allowance,
                               MemoryBudget& budget, LargeQueryQueue& queue, const Clock& clock)
    : owner_(owner),
      id_(id),
      endpoint_(std::move(endpoint)),
      client_(std::move(client)),
      queue_client_(QueueClient(client_, id_)),
      allowance_(allowance),
      budget_(budget),
      queue_(queue),
      clock_(clock),
      started_ms_(clock.NowMs()),
      started_ns_(clock.MonotonicNs()) {}

RunningRequest::~RunningRequest() {
  LeaveQueue();
  budget_.Give(bytes_.load(std::memory_order_relaxed));
  owner_.Leave(this);
}

Status RunningRequest::Step(uint64_t steps) {
  const uint64_t before = steps_.fetch_add(steps, std::memory_order_relaxed);
  if (before + steps > small_steps_) RETURN_IF_ERROR(MayWait());
  if (before / kStepsPerLook == (before + steps) / kStepsPerLook) return {};
  RETURN_IF_ERROR(Check());
  const bool large = allowance_.large_steps > 0 && before + steps > allowance_.large_steps;
  return large && !large_.load(std::memory_order_relaxed) ? LookLarge() : Status();
}

Status RunningRequest::Charge(int64_t bytes) {
  const int64_t held = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (bytes <= 0) {
    budget_.Give(-bytes);
    return {};
  }
  const auto refuse = [&](Status status) {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return status;
  };
  if (allowance_.bytes_max > 0 && held > allowance_.bytes_max) {
    return refuse(Status::LimitExceeded(
        "Sorry, your query needs more memory than the " +
        std::to_string(allowance_.bytes_max / kMega) +
        " MB that one query may use (tsd.query.memory.per_query)." + Named() +
        " Please try filtering using more tags or decrease your time range."));
  }
  const bool large = allowance_.large_bytes > 0 && held > allowance_.large_bytes;
  if (!budget_.Take(bytes, large ? budget_.reserve() : 0)) {
    return refuse(Status::Busy("Sorry, all queries together need more memory than the " +
                               std::to_string(budget_.limit() / kMega) +
                               " MB that they may use (tsd.query.memory.limit)." + Named() +
                               " Please try again later."));
  }
  int64_t most = bytes_most_.load(std::memory_order_relaxed);
  while (held > most && !bytes_most_.compare_exchange_weak(most, held, std::memory_order_relaxed)) {
  }
  if (!large || large_.load(std::memory_order_relaxed)) return {};
  Status turn = LookLarge();
  if (turn.ok()) return {};
  budget_.Give(bytes);
  return refuse(std::move(turn));
}

Status RunningRequest::Check() {
  switch (killed_.load()) {
    case Killed::kNot:
      break;
    case Killed::kByAdministrator:
      return Status::DeadlineExceeded("The request was ended by an administrator");
    case Killed::kByStop:
      return Status::Busy("The server is stopping. Please try again later.");
    case Killed::kForMemory:
      return Status::Busy(
          "The request was ended, because it kept memory that other requests need. Please try "
          "again later.");
  }
  if (Abandoned()) return Status::DeadlineExceeded("The client has closed its connection");
  const bool writes = after_client_ns_ > 0;
  if (writes && !long_.load(std::memory_order_relaxed) && elapsed_ns() > kShortWriteNs) TakeLong();
  if (allowance_.timeout_ms <= 0 || answering_.load(std::memory_order_relaxed)) return {};
  const int64_t spent_ms = elapsed_ns() / 1'000'000;
  if (spent_ms <= allowance_.timeout_ms) return {};
  return Status::DeadlineExceeded(
      "Sorry, your query timed out. Time limit: " + std::to_string(allowance_.timeout_ms) +
      " ms, fetch time: " + std::to_string(spent_ms) +
      " ms. Please try filtering using more tags or decrease your time range.");
}

bool RunningRequest::Abandoned() {
  if (!client_.gone) return false;
  std::lock_guard lock(gone_mutex_);
  if (!client_.gone()) return false;
  client_gone_.store(true, std::memory_order_relaxed);
  if (after_client_ns_ == 0) return true;
  const int64_t now_ns = clock_.MonotonicNs();
  if (gone_since_ns_ < 0) gone_since_ns_ = now_ns;
  return now_ns - gone_since_ns_ >= after_client_ns_;
}

void RunningRequest::TakeLong() {
  if (!long_.exchange(true) && client_.takes_long) client_.takes_long();
}

// Makes the query a large one. The first thread of the query that calls this function waits for a
// place in LargeQueryQueue. Other threads of the query wait for the mutex, and get the same result.
// Writes never wait for queries: their bodies limit their work.
Status RunningRequest::LookLarge() {
  if (after_client_ns_ > 0) return {};
  std::lock_guard lock(queue_mutex_);
  if (large_.load(std::memory_order_relaxed)) return {};
  RETURN_IF_ERROR(queue_failure_);  // the query has waited in vain, maybe on another thread
  if (answering_.load(std::memory_order_relaxed)) return {};
  RETURN_IF_ERROR(MayWait());
  TakeLong();
  phase_.store(RequestPhase::kWaiting, std::memory_order_relaxed);
  queue_failure_ = queue_.Enter(queue_client_, bytes_.load(std::memory_order_relaxed), [this] {
    owner_.EndLongAnswers();
    return Check();
  });
  phase_.store(RequestPhase::kWorking, std::memory_order_relaxed);
  queued_ = queue_failure_.ok();
  // Once large_ is set, later calls of Step and Charge skip this function.
  if (queued_) large_.store(true, std::memory_order_relaxed);
  return queue_failure_;
}

void RunningRequest::LeaveQueue() {
  std::lock_guard lock(queue_mutex_);
  if (!queued_) return;
  queued_ = false;
  queue_.Leave(queue_client_);
}

void RunningRequest::BeginAnswer() {
  answer_began_ns_.store(clock_.MonotonicNs());
  answering_.store(true);
  phase_.store(RequestPhase::kAnswering, std::memory_order_relaxed);
  LeaveQueue();
}

// Kill and BeginAnswer may run at the same time. Kill sets killed_ and then reads answering_.
// BeginAnswer sets answering_, and a later Check reads killed_. So at least one of them sees the
// other's change.
void RunningRequest::Kill(Killed why) {
  killed_.store(why);
  if ((query_ == nullptr || answering_.load()) && client_.cut) client_.cut();
}

bool RunningRequest::AnswersTooLong(int64_t now_ns) const {
  return allowance_.timeout_ms > 0 && answering_.load() &&
         (now_ns - answer_began_ns_.load()) / 1'000'000 > allowance_.timeout_ms;
}

bool RunningRequest::GiveUp() {
  Killed before = Killed::kNot;
  killed_.compare_exchange_strong(before, Killed::kForMemory);
  if (answering_.load() && client_.cut) client_.cut();
  return true;
}

Status RunningRequest::BecomeQuery(const Request& query, QueryDetails details) {
  return owner_.Enlist(this, query, std::move(details));
}

std::string RunningRequest::Named() const {
  if (query_ == nullptr) return endpoint_.empty() ? "" : " The request: " + endpoint_ + ".";
  return " The query: " + QueryText(*query_, kNamedBytesMax) + ".";
}

}  // namespace hg::query
