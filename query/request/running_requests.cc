#include "query/request/running_requests.h"

#include <algorithm>
#include <functional>
#include <new>
#include <optional>

#include "query/request/request_hash.h"
#include "storage/base/invariant.h"

namespace hg::query {
namespace {

// The maximum length of the texts of start and end if a query is too long to be kept completely.
constexpr size_t kKeptTextBytesMax = 64;

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

size_t BytesOf(const std::pair<std::string, std::string>& header) {
  return sizeof(header) + header.first.size() + header.second.size();
}

size_t BytesOf(const SubQueryStats& stats) { return sizeof(stats) + stats.scan.size(); }

size_t BytesOf(const CompletedQuery& done) {
  size_t bytes = BytesOf(*done.query);
  for (const auto& header : done.headers) bytes += BytesOf(header);
  for (const SubQueryStats& stats : done.stats.queries) bytes += BytesOf(stats);
  return bytes;
}

/// Removes all elements after the first ones that together need at most `bytes_max` bytes.
template <typename T>
void KeepWhatFits(size_t bytes_max, std::vector<T>* list) {
  size_t kept = 0;
  for (size_t bytes = 0; kept < list->size(); ++kept) {
    bytes += BytesOf((*list)[kept]);
    if (bytes > bytes_max) break;
  }
  list->resize(kept);
  list->shrink_to_fit();
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

RequestAllowance AllowanceOf(const Options& options) {
  RequestAllowance out;
  out.timeout_ms = options.timeout_ms;
  out.bytes_max = options.query_memory_bytes_max;
  out.large_steps = options.large_steps;
  out.large_bytes = options.large_bytes;
  return out;
}

}  // namespace

QueryTotals TotalsOf(const std::vector<SubQueryStats>& sub_queries) {
  QueryTotals out;
  out.sub_queries = sub_queries.size();
  for (const SubQueryStats& stats : sub_queries) {
    for (const auto count : {&SubQueryStats::rows_before, &SubQueryStats::rows_after,
                             &SubQueryStats::points_before, &SubQueryStats::points_after,
                             &SubQueryStats::emitted_points, &SubQueryStats::names_resolved}) {
      out.sum.*count += stats.*count;
    }
    for (const auto time :
         {&SubQueryStats::scan_ns, &SubQueryStats::filter_ns, &SubQueryStats::group_ns,
          &SubQueryStats::aggregate_ns, &SubQueryStats::names_ns, &SubQueryStats::print_ns}) {
      out.sum.*time += stats.*time;
      out.most.*time = std::max(out.most.*time, stats.*time);
    }
  }
  return out;
}

RunningRequests::RunningRequests(const Options& options, const Clock& clock)
    : allowance_(AllowanceOf(options)),
      duplicates_allowed_(options.simultaneous_duplicates),
      clock_(clock),
      budget_(options.memory_bytes_max),
      queue_(options.large_queries, budget_, clock) {}

std::unique_ptr<RunningRequest> RunningRequests::Begin(std::string endpoint, RequestClient client) {
  // The node of the map is allocated before the lock is taken. If its allocation failed later, the
  // exception would destroy the request while the lock is held, and the request's destructor takes
  // the lock.
  std::map<uint64_t, RunningRequest*> alone = {{0, nullptr}};
  auto place = alone.extract(alone.begin());
  std::lock_guard lock(mutex_);
  std::unique_ptr<RunningRequest> request(new RunningRequest(*this, next_id_++, std::move(endpoint),
                                                             std::move(client), allowance_, budget_,
                                                             queue_, clock_));
  if (stopping_) request->Kill(RunningRequest::Killed::kByStop);
  place.key() = request->id_;
  place.mapped() = request.get();
  running_.insert(std::move(place));
  return request;
}

Status RunningRequests::Enlist(RunningRequest* request, const Request& query,
                               QueryDetails details) {
  const bool alone =
      details.refuse_repeats && !duplicates_allowed_ && !request->client_.remote.empty();
  const std::string address = alone ? AddressOf(request->client_.remote) : "";
  const bool whole = IsKeptWhole(query);
  std::shared_ptr<const Request> kept = KeptForm(query);
  const uint64_t hash = HashOf(*kept);
  KeepWhatFits(kKeptBytesMax - BytesOf(*kept), &details.headers);
  std::lock_guard lock(mutex_);
  INVARIANT(request->query_ == nullptr);
  if (alone && whole) {
    for (const auto& [id, other] : running_) {
      if (other->query_ != nullptr && other->details_.refuse_repeats &&
          other->query_hash_ == hash && AddressOf(other->client_.remote) == address &&
          *other->query_ == query) {
        return Status::InvalidArgument("Query is already executing for endpoint: " + address);
      }
    }
  }
  request->query_ = std::move(kept);
  request->query_hash_ = hash;
  request->details_ = std::move(details);
  ++running_queries_;
  return {};
}

void RunningRequests::Remove(const RunningRequest* request) {
  // Leave removes the request a second time if an exception follows the first removal.
  const bool removed = running_.erase(request->id_) > 0;
  if (removed && request->query_ != nullptr) --running_queries_;
}

void RunningRequests::Leave(RunningRequest* request) {
  if (request->withdrawn_ || request->query_ == nullptr) {
    std::lock_guard lock(mutex_);
    Remove(request);
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
    done->totals = TotalsOf(request->stats_.queries);
    KeepWhatFits(kKeptBytesMax - BytesOf(*done), &request->stats_.queries);
    done->stats = std::move(request->stats_);
    Kept kept{request->query_hash_, AddressOf(done->remote), done};
    {
      std::lock_guard lock(mutex_);
      Remove(request);
      done->still_running = running_queries_;
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
    Remove(request);
  }
}

bool RunningRequests::Kill(uint64_t id) {
  std::lock_guard lock(mutex_);
  const auto found = running_.find(id);
  if (found == running_.end()) return false;
  found->second->Kill(RunningRequest::Killed::kByAdministrator);
  return true;
}

void RunningRequests::EndAll() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  for (const auto& [id, request] : running_) request->Kill(RunningRequest::Killed::kByStop);
}

void RunningRequests::EndLongAnswers() {
  constexpr int64_t kPauseNs = 1'000'000'000;
  int64_t missing = budget_.missing(queue_.waiting_bytes());
  if (missing <= 0) return;
  const int64_t now_ns = clock_.MonotonicNs();
  std::lock_guard lock(mutex_);
  if (now_ns - ended_answers_ns_ < kPauseNs) return;
  ended_answers_ns_ = now_ns;
  std::vector<std::pair<int64_t, RunningRequest*>> long_ones;
  int64_t held = 0;
  for (const auto& [id, request] : running_) {
    if (!request->AnswersTooLong(now_ns)) continue;
    long_ones.emplace_back(request->bytes_.load(std::memory_order_relaxed), request);
    held += long_ones.back().first;
  }
  if (held < missing) return;
  std::sort(long_ones.begin(), long_ones.end(), std::greater<>());
  for (auto at = long_ones.begin(); missing > 0; ++at) {
    at->second->GiveUp();
    missing -= at->first;
  }
}

std::vector<RunningRequestInfo> RunningRequests::Running(uint64_t after, size_t count_max) {
  std::lock_guard lock(mutex_);
  std::vector<RunningRequestInfo> out;
  for (auto at = running_.upper_bound(after); at != running_.end() && out.size() < count_max;
       ++at) {
    const RunningRequest* request = at->second;
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
