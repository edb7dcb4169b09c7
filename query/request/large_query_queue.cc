#include "query/request/large_query_queue.h"

#include <algorithm>
#include <chrono>

#include "storage/base/invariant.h"
#include "storage/base/survive.h"

namespace hg::query {
namespace {

// The interval at which a waiting query checks whether its client has closed the connection or
// memory was freed.
constexpr auto kPoll = std::chrono::milliseconds(50);

Status TooManyWait(size_t waiting_max) {
  return Status::Busy("Too many large queries are waiting (" + std::to_string(waiting_max) +
                      "); please try again later");
}

}  // namespace

// If the next query may not start, then no other waiting query may start either: its client runs at
// least as many large queries, and the rule for the memory is the same for all queries.
bool LargeQueryQueue::MayStart(const Query& query) const {
  // min_element returns the first one of equal elements.
  const Query* const next =
      *std::min_element(waiting_.begin(), waiting_.end(), [](const Query* a, const Query* b) {
        return a->client->second.running < b->client->second.running;
      });
  if (next != &query) return false;
  const size_t running_max =
      query.client->second.running == 0 ? 2 * options_.width : options_.width;
  return (options_.width == 0 || working_ < running_max) && memory_.missing(waiting_bytes_) <= 0;
}

void LargeQueryQueue::RefuseOne() {
  // max_element returns the first one of equal elements, which is the last one in waiting_.
  Query* const last =
      *std::max_element(waiting_.rbegin(), waiting_.rend(), [](const Query* a, const Query* b) {
        return a->client->second.waiting < b->client->second.waiting;
      });
  last->refused = true;
  Remove(last);
  moved_.NotifyAll();
}

void LargeQueryQueue::Remove(Query* query) {
  const size_t removed = std::erase(waiting_, query);
  INVARIANT(removed == 1);
  waiting_bytes_ -= query->held;
  --query->client->second.waiting;
  RemoveIfUnused(query->client);
}

void LargeQueryQueue::RemoveIfUnused(Clients::iterator client) {
  if (client->second.running == 0 && client->second.waiting == 0) clients_.erase(client);
}

Status LargeQueryQueue::Enter(const std::string& client, int64_t held,
                              const std::function<Status()>& look) {
  const MutexLock lock(mutex_);
  // All allocations come first, so that an allocation failure changes nothing.
  waiting_.reserve(waiting_.size() + 1);
  Query query{clients_.try_emplace(client).first, held};
  waiting_.push_back(&query);
  waiting_bytes_ += held;
  ++query.client->second.waiting;
  // RefuseOne counts the new query, too. So another client loses a query only if it has at least
  // two more waiting queries than the client of the new query had before.
  if (waiting_.size() > options_.waiting_max && !MayStart(query)) RefuseOne();
  const int64_t began_ns = clock_.MonotonicNs();
  Status status;
  while (status.ok() && !query.refused && !MayStart(query)) {
    moved_.WaitFor(mutex_, kPoll, [&] {
      mutex_.AssertHeld();
      return query.refused || MayStart(query);
    });
    mutex_.Unlock();
    // Other queries wait behind this query, so it must leave the queue even if `look` throws an
    // exception.
    status = Survive([&] {
      const Status looked = look();
      const int64_t waited_ms = (clock_.MonotonicNs() - began_ns) / 1'000'000;
      if (!looked.ok() || waited_ms <= options_.wait_max_ms) return looked;
      return Status::Busy("The query waited " + std::to_string(waited_ms) +
                          " ms behind other large ones; please try again later");
    });
    mutex_.Lock();
  }
  if (query.refused) return status.ok() ? TooManyWait(options_.waiting_max) : status;
  if (status.ok()) {
    ++working_;
    ++query.client->second.running;
  }
  Remove(&query);
  moved_.NotifyAll();
  return status;
}

void LargeQueryQueue::Leave(const std::string& client) {
  const MutexLock lock(mutex_);
  const auto found = clients_.find(client);
  INVARIANT(found != clients_.end() && found->second.running > 0);
  --found->second.running;
  --working_;
  RemoveIfUnused(found);
  moved_.NotifyAll();
}

size_t LargeQueryQueue::working() {
  const MutexLock lock(mutex_);
  return working_;
}

int64_t LargeQueryQueue::waiting_bytes() {
  const MutexLock lock(mutex_);
  return waiting_bytes_;
}

size_t LargeQueryQueue::waiting() {
  const MutexLock lock(mutex_);
  return waiting_.size();
}

}  // namespace hg::query
