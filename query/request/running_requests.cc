#include "query/request/running_requests.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>

#include "storage/base/invariant.h"

namespace hg::query {
namespace {

// The maximum length of the texts of start and end if a query is too long to be kept completely.
constexpr size_t kKeptTextBytesMax = 64;

std::string AddressOf(const std::string& remote) { return remote.substr(0, remote.rfind(':')); }

size_t BytesOf(const std::string& text) { return sizeof(text) + text.size(); }

size_t BytesOf(const std::optional<std::string>& text) { return text ? BytesOf(*text) : 0; }

size_t BytesOf(const SubQuery& query) {
  size_t bytes = sizeof(SubQuery) + BytesOf(query.aggregator) + BytesOf(query.metric) +
                 BytesOf(query.downsample) + BytesOf(query.rollup_usage) +
                 BytesOf(query.value_filter);
  for (const FilterSpec& filter : query.filters)
    bytes += sizeof(FilterSpec) + filter.type.size() + filter.tagk.size() + filter.filter.size();
  if (query.tsuids) {
    for (const std::string& tsuid : *query.tsuids) bytes += BytesOf(tsuid);
  }
  if (query.percentiles) bytes += query.percentiles->size() * sizeof(double);
  return bytes;
}

size_t BytesOf(const Request& request) {
  size_t bytes = BytesOf(request.start) + BytesOf(request.end) + BytesOf(request.timezone);
  for (const SubQuery& query : request.queries) bytes += BytesOf(query);
  return bytes;
}

/// Returns whether the query is kept completely, so that it can be compared with others.
bool IsKeptWhole(const Request& request) {
  return BytesOf(request) <= RunningRequests::kKeptBytesMax;
}

std::shared_ptr<const Request> KeptForm(const Request& request) {
  if (IsKeptWhole(request)) return std::make_shared<const Request>(request);
  auto shorter = std::make_shared<Request>();
  shorter->start = request.start.substr(0, kKeptTextBytesMax);
  if (request.end) shorter->end = request.end->substr(0, kKeptTextBytesMax);
  return shorter;
}

size_t HashOf(const std::string& address, const Request& request) {
  size_t hash = 0;
  const auto add = [&](std::string_view text) {
    hash = hash * 31 + std::hash<std::string_view>()(text);
  };
  add(address);
  add(request.start);
  if (request.end) add(*request.end);
  for (const SubQuery& query : request.queries) {
    if (query.metric) add(*query.metric);
    if (query.downsample) add(*query.downsample);
  }
  return hash;
}

RequestAllowance AllowanceOf(const Options& options) {
  RequestAllowance out;
  out.timeout_ms = options.timeout_ms;
  out.bytes_max = options.query_memory_bytes_max;
  out.large_steps = options.large_steps;
  out.large_bytes = options.large_bytes;
  return out;
}

}  // namespace

RunningRequests::RunningRequests(const Options& options, const Clock& clock)
    : allowance_(AllowanceOf(options)),
      duplicates_allowed_(options.simultaneous_duplicates),
      clock_(clock),
      budget_(options.memory_bytes_max),
      queue_(options.large_queries, budget_, clock) {}

std::unique_ptr<RunningRequest> RunningRequests::Begin(std::string endpoint, RequestClient client) {
  // The list node is allocated before the lock is taken. If its allocation failed later, the
  // exception would destroy the request while the lock is held, and the request's destructor takes
  // the lock.
  std::list<RunningRequest*> place(1);
  std::lock_guard lock(mutex_);
  std::unique_ptr<RunningRequest> request(new RunningRequest(*this, next_id_++, std::move(endpoint),
                                                             std::move(client), allowance_, budget_,
                                                             queue_, clock_));
  if (stopping_) request->Kill(RunningRequest::Killed::kByStop);
  place.front() = request.get();
  running_.splice(running_.end(), place);
  return request;
}

Status RunningRequests::Enlist(RunningRequest* request, const Request& query,
                               QueryDetails details) {
  const bool alone =
      details.refuse_repeats && !duplicates_allowed_ && !request->client_.remote.empty();
  const std::string address = alone ? AddressOf(request->client_.remote) : "";
  const bool whole = IsKeptWhole(query);
  std::shared_ptr<const Request> kept = KeptForm(query);
  std::lock_guard lock(mutex_);
  INVARIANT(request->query_ == nullptr);
  if (alone && whole) {
    for (const RunningRequest* other : running_) {
      if (other->query_ != nullptr && other->details_.refuse_repeats &&
          AddressOf(other->client_.remote) == address && *other->query_ == query) {
        return Status::InvalidArgument("Query is already executing for endpoint: " + address);
      }
    }
  }
  request->query_ = std::move(kept);
  request->details_ = std::move(details);
  return {};
}

void RunningRequests::Leave(RunningRequest* request) {
  if (request->withdrawn_ || request->query_ == nullptr) {
    std::lock_guard lock(mutex_);
    running_.remove(request);
    return;
  }
  // A destructor calls this function, so it must not throw. If memory is exhausted, the query is
  // not added to the completed ones.
  try {
    auto done = std::make_shared<CompletedQuery>();
    done->id = request->id_;
    done->query = request->query_;
    done->remote = request->client_.remote;
    done->headers = request->details_.headers;
    done->started_ms = request->started_ms_;
    done->ended_ms = clock_.NowMs();
    done->elapsed_ns = request->elapsed_ns();
    done->memory_most_bytes = request->bytes_most_.load(std::memory_order_relaxed);
    done->client_gone = request->client_gone_.load(std::memory_order_relaxed);
    done->end = std::move(request->end_);
    done->stats = std::move(request->stats_);
    Kept kept{0, AddressOf(done->remote), done};
    kept.hash = HashOf(kept.address, *done->query);
    {
      std::lock_guard lock(mutex_);
      running_.remove(request);
      done->still_running = static_cast<size_t>(
          std::count_if(running_.begin(), running_.end(),
                        [](const auto* other) { return other->query_ != nullptr; }));
      const auto before =
          std::find_if(completed_.begin(), completed_.end(), [&](const Kept& other) {
            return other.hash == kept.hash && other.address == kept.address &&
                   *other.query->query == *done->query;
          });
      if (before != completed_.end()) {
        done->executed += before->query->executed;
        completed_.erase(before);
      }
      completed_.push_front(std::move(kept));
      if (completed_.size() > kCompletedMax) completed_.pop_back();
    }
    if (listener_) listener_(*done);
  } catch (const std::bad_alloc&) {
    std::lock_guard lock(mutex_);
    running_.remove(request);
  }
}

bool RunningRequests::Kill(uint64_t id) {
  std::lock_guard lock(mutex_);
  for (RunningRequest* request : running_) {
    if (request->id_ != id) continue;
    request->Kill(RunningRequest::Killed::kByAdministrator);
    return true;
  }
  return false;
}

void RunningRequests::EndAll() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  for (RunningRequest* request : running_) request->Kill(RunningRequest::Killed::kByStop);
}

std::vector<RunningRequestInfo> RunningRequests::Running() {
  std::lock_guard lock(mutex_);
  std::vector<RunningRequestInfo> out;
  for (const RunningRequest* request : running_) {
    RunningRequestInfo info;
    info.id = request->id_;
    info.endpoint = request->endpoint_;
    info.query = request->query_;
    info.remote = request->client_.remote;
    info.headers = request->details_.headers;
    info.started_ms = request->started_ms_;
    info.elapsed_ns = request->elapsed_ns();
    info.phase = request->phase_.load(std::memory_order_relaxed);
    info.memory_bytes = request->bytes_.load(std::memory_order_relaxed);
    out.push_back(std::move(info));
  }
  return out;
}

std::vector<std::shared_ptr<const CompletedQuery>> RunningRequests::Completed() {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const CompletedQuery>> out;
  for (const Kept& kept : completed_) out.push_back(kept.query);
  return out;
}

}  // namespace hg::query
