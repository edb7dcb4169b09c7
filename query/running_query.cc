#include "query/running_query.h"

#include "query/query_text.h"
#include "query/running.h"
#include "storage/base/no_wait.h"

namespace hg::query {
namespace {

constexpr size_t kNamedBytesMax = 1024;  // of a query's text in an error
constexpr int64_t kMega = 1 << 20;
// Of the memory of all queries an eighth is kept for small ones.
constexpr int64_t kReserveShare = 8;

}  // namespace

RunningQuery::RunningQuery(RunningQueries& owner, uint64_t id,
                           std::shared_ptr<const Request> request, QueryClient client,
                           const QueryAllowance& allowance, MemoryBudget& budget, LargeLane& lane,
                           const Clock& clock)
    : owner_(owner),
      id_(id),
      request_(std::move(request)),
      client_(std::move(client)),
      allowance_(allowance),
      budget_(budget),
      lane_(lane),
      clock_(clock),
      started_ms_(clock.NowMs()),
      started_ns_(clock.MonotonicNs()) {}

RunningQuery::~RunningQuery() {
  LeaveLane();
  budget_.Give(bytes_.load(std::memory_order_relaxed));
  owner_.Leave(this);
}

Status RunningQuery::Step(uint64_t steps) {
  const uint64_t before = steps_.fetch_add(steps, std::memory_order_relaxed);
  if (before + steps > small_steps_) RETURN_IF_ERROR(NoWait::MayWait());
  if (before / kStepsPerLook == (before + steps) / kStepsPerLook) return {};
  RETURN_IF_ERROR(Look());
  const bool large = allowance_.large_steps > 0 && before + steps > allowance_.large_steps;
  return large && !large_.load(std::memory_order_relaxed) ? LookLarge() : Status();
}

Status RunningQuery::Charge(int64_t bytes) {
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
  if (!budget_.Take(bytes, large ? budget_.limit() / kReserveShare : 0)) {
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

Status RunningQuery::Look() {
  if (killed_.load()) return Status::DeadlineExceeded("The query was ended by an administrator");
  if (client_.gone) {
    std::lock_guard lock(gone_mutex_);
    if (client_.gone()) {
      client_gone_.store(true, std::memory_order_relaxed);
      return Status::DeadlineExceeded("The client has closed its connection");
    }
  }
  if (allowance_.timeout_ms <= 0 || answering_.load(std::memory_order_relaxed)) return {};
  const int64_t spent_ms = elapsed_ns() / 1'000'000;
  if (spent_ms <= allowance_.timeout_ms) return {};
  return Status::DeadlineExceeded(
      "Sorry, your query timed out. Time limit: " + std::to_string(allowance_.timeout_ms) +
      " ms, fetch time: " + std::to_string(spent_ms) +
      " ms. Please try filtering using more tags or decrease your time range.");
}

// The first of its threads that comes here waits for a place in the lane, the others for it.
Status RunningQuery::LookLarge() {
  std::lock_guard lock(lane_mutex_);
  if (large_.load(std::memory_order_relaxed)) return lane_failure_;
  if (answering_.load(std::memory_order_relaxed)) return {};
  RETURN_IF_ERROR(NoWait::MayWait());
  if (client_.takes_long) client_.takes_long();
  phase_.store(QueryPhase::kWaiting, std::memory_order_relaxed);
  lane_failure_ = lane_.Enter(bytes_.load(std::memory_order_relaxed), [this] { return Look(); });
  phase_.store(QueryPhase::kWorking, std::memory_order_relaxed);
  in_lane_ = lane_failure_.ok();
  // Those that come later need not ask.
  if (in_lane_) large_.store(true, std::memory_order_relaxed);
  return lane_failure_;
}

void RunningQuery::LeaveLane() {
  std::lock_guard lock(lane_mutex_);
  if (!in_lane_) return;
  in_lane_ = false;
  lane_.Leave();
}

void RunningQuery::BeginAnswer() {
  answering_.store(true);
  phase_.store(QueryPhase::kAnswering, std::memory_order_relaxed);
  LeaveLane();
}

// Whichever of both comes later sees the other one: an answer that begins finds the query killed.
void RunningQuery::Kill() {
  killed_.store(true);
  if (answering_.load() && client_.cut) client_.cut();
}

std::string RunningQuery::Named() const {
  return " The query: " + QueryText(*request_, kNamedBytesMax) + ".";
}

}  // namespace hg::query
