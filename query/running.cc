#include "query/running.h"

#include <algorithm>
#include <new>
#include <string_view>

namespace hg::query {
namespace {

// A request of this size is shown and kept; of a longer one only what stands beside its
// sub-queries.
constexpr size_t kKeptRequestBytesMax = 64 << 10;

std::string AddressOf(const std::string& remote) { return remote.substr(0, remote.rfind(':')); }

size_t BytesOf(const SubQuery& query) {
  size_t bytes = sizeof(SubQuery) + query.metric.value_or("").size();
  for (const FilterSpec& filter : query.filters)
    bytes += sizeof(FilterSpec) + filter.tagk.size() + filter.filter.size();
  if (query.tsuids) {
    for (const std::string& tsuid : *query.tsuids) bytes += sizeof(tsuid) + tsuid.size();
  }
  return bytes;
}

std::shared_ptr<const Request> KeptForm(const std::shared_ptr<const Request>& request) {
  size_t bytes = 0;
  for (const SubQuery& query : request->queries) bytes += BytesOf(query);
  if (bytes <= kKeptRequestBytesMax) return request;
  auto shorter = std::make_shared<Request>(*request);
  std::vector<SubQuery>().swap(shorter->queries);
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

QueryAllowance AllowanceOf(const Options& options) {
  QueryAllowance out;
  out.timeout_ms = options.timeout_ms;
  out.bytes_max = options.query_memory_bytes_max;
  out.large_steps = options.large_steps;
  out.large_bytes = options.large_bytes;
  return out;
}

}  // namespace

RunningQueries::RunningQueries(const Options& options, const Clock& clock)
    : allowance_(AllowanceOf(options)),
      duplicates_allowed_(options.simultaneous_duplicates),
      clock_(clock),
      budget_(options.memory_bytes_max),
      lane_(options.large_lane, budget_, clock) {}

Result<std::unique_ptr<RunningQuery>> RunningQueries::Begin(const Request& request,
                                                            QueryClient client) {
  const bool alone = client.refuse_repeats && !duplicates_allowed_ && !client.remote.empty();
  const std::string address = alone ? AddressOf(client.remote) : "";
  auto kept = std::make_shared<const Request>(request);
  std::list<RunningQuery*> place(1);  // a query that ends takes the lock: none must end under it
  std::lock_guard lock(mutex_);
  if (alone) {
    for (const RunningQuery* other : running_) {
      if (other->client_.refuse_repeats && AddressOf(other->client_.remote) == address &&
          *other->request_ == request) {
        return Status::InvalidArgument("Query is already executing for endpoint: " + address);
      }
    }
  }
  std::unique_ptr<RunningQuery> query(new RunningQuery(
      *this, next_id_++, std::move(kept), std::move(client), allowance_, budget_, lane_, clock_));
  place.front() = query.get();
  running_.splice(running_.end(), place);
  return query;
}

void RunningQueries::Leave(RunningQuery* query) {
  if (query->withdrawn_) {
    std::lock_guard lock(mutex_);
    running_.remove(query);
    return;
  }
  // A destructor calls this: without memory to remember the query it is forgotten.
  try {
    auto done = std::make_shared<CompletedQuery>();
    done->id = query->id_;
    done->request = KeptForm(query->request_);
    done->remote = query->client_.remote;
    done->headers = query->client_.headers;
    done->started_ms = query->started_ms_;
    done->ended_ms = clock_.NowMs();
    done->elapsed_ns = query->elapsed_ns();
    done->memory_most_bytes = query->bytes_most_.load(std::memory_order_relaxed);
    done->client_gone = query->client_gone_.load(std::memory_order_relaxed);
    done->end = std::move(query->end_);
    done->stats = std::move(query->stats_);
    Kept kept{0, AddressOf(done->remote), done};
    kept.hash = HashOf(kept.address, *done->request);
    {
      std::lock_guard lock(mutex_);
      running_.remove(query);
      done->still_running = running_.size();
      const auto before =
          std::find_if(completed_.begin(), completed_.end(), [&](const Kept& other) {
            return other.hash == kept.hash && other.address == kept.address &&
                   *other.query->request == *done->request;
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
    running_.remove(query);
  }
}

bool RunningQueries::Kill(uint64_t id) {
  std::lock_guard lock(mutex_);
  for (RunningQuery* query : running_) {
    if (query->id_ != id) continue;
    query->Kill();
    return true;
  }
  return false;
}

std::vector<RunningQueryInfo> RunningQueries::Running() {
  std::lock_guard lock(mutex_);
  std::vector<RunningQueryInfo> out;
  for (const RunningQuery* query : running_) {
    RunningQueryInfo info;
    info.id = query->id_;
    info.request = KeptForm(query->request_);
    info.remote = query->client_.remote;
    info.headers = query->client_.headers;
    info.started_ms = query->started_ms_;
    info.elapsed_ns = query->elapsed_ns();
    info.phase = query->phase_.load(std::memory_order_relaxed);
    info.memory_bytes = query->bytes_.load(std::memory_order_relaxed);
    out.push_back(std::move(info));
  }
  return out;
}

std::vector<std::shared_ptr<const CompletedQuery>> RunningQueries::Completed() {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const CompletedQuery>> out;
  for (const Kept& kept : completed_) out.push_back(kept.query);
  return out;
}

}  // namespace hg::query
