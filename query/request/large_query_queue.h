#pragma once
// The queue of large queries. A query starts without entering the queue. If a query has read more
// rows or holds more memory than a small query may, it must enter the queue before it continues.
// The server runs only a limited number of large queries at a time. All other large queries wait.
// Small queries never wait for large ones.
//
// The clients share the queue, so that one client cannot keep the large queries of the other
// clients from running:
//
// 1. The next query to start is the one whose client runs the fewest large queries. Among such
//    queries, the one that arrived first starts.
// 2. A client that runs no large query may start one even if `width` large queries run, as long as
//    fewer than 2 * `width` run.
// 3. If a query arrives while `waiting_max` queries wait, the queue refuses the last query of the
//    client that now has the most waiting queries. If several clients have the most, it refuses the
//    last one of all their queries.
//
// If only one client has large queries, they start in order of arrival, and the queue refuses the
// queries that arrive while `waiting_max` queries wait.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "query/request/memory_budget.h"
#include "storage/base/clock.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace hg::query {

struct LargeQueryQueueOptions {
  /// Maximum number of large queries that run at a time; 0 = no limit. Queries of clients that run
  /// no other large query may exceed it: in total, at most 2 * `width` large queries run.
  size_t width = 0;
  /// Maximum number of large queries that wait. For each further one, a query fails with Busy.
  size_t waiting_max = 64;
  int64_t wait_max_ms = 60'000;
};

/// The queue of large queries. It is thread-safe.
class LargeQueryQueue {
 public:
  /// `memory` and `clock` must outlive the queue. The queue starts no large query while more than
  /// half of the budget `memory` is in use. The memory of queries that wait in the queue is not
  /// counted for this purpose, because these queries cannot free memory before they have started.
  LargeQueryQueue(LargeQueryQueueOptions options, const MemoryBudget& memory, const Clock& clock)
      : options_(options), memory_(memory), clock_(clock) {}

  /// Waits until the query may run. `client` is the name of its client; a query without a client
  /// needs a name of its own. `held` is the memory in bytes that the query holds. While the query
  /// waits, Enter calls `look` again and again, without holding a lock. If `look` returns an error,
  /// Enter returns this error. Busy: too many queries wait, a query of another client took the
  /// place of this query, or this query has waited too long.
  Status Enter(const std::string& client, int64_t held, const std::function<Status()>& look);
  /// Tells the queue that a large query of `client` has ended, so that the next query can start.
  /// Call this function once after each successful Enter. It does not throw.
  void Leave(const std::string& client);

  [[nodiscard]] size_t working();
  [[nodiscard]] size_t waiting();
  /// Returns the memory in bytes that the waiting queries held when they called Enter.
  [[nodiscard]] int64_t waiting_bytes();

 private:
  /// The numbers of large queries of a client.
  struct Client {
    size_t running = 0, waiting = 0;
  };
  using Clients = std::map<std::string, Client>;
  /// A query inside Enter. The thread that called Enter owns the object.
  struct Query {
    Clients::iterator client;
    int64_t held;
    bool refused = false;  // whether RefuseOne removed the query from waiting_
  };

  /// Returns whether `query`, which is in waiting_, is the next one and may start now.
  [[nodiscard]] bool MayStart(const Query& query) const REQUIRES(mutex_);
  /// Removes the last query of the client with the most waiting queries, and wakes its thread.
  void RefuseOne() REQUIRES(mutex_);
  /// Removes `query` from waiting_.
  void Remove(Query* query) REQUIRES(mutex_);
  /// Removes the client from clients_ if none of its large queries waits or runs.
  void RemoveIfUnused(Clients::iterator client) REQUIRES(mutex_);

  const LargeQueryQueueOptions options_;
  const MemoryBudget& memory_;
  const Clock& clock_;

  Mutex mutex_;
  /// Notified when a query has left waiting_, and when a large query has ended. Changes of
  /// `memory_` and the errors of `look` are not notified, so each waiting query also checks them
  /// regularly.
  CondVar moved_;
  Clients clients_ GUARDED_BY(mutex_);              // the clients with large queries
  size_t working_ GUARDED_BY(mutex_) = 0;           // sum of Client::running
  std::vector<Query*> waiting_ GUARDED_BY(mutex_);  // the waiting queries in order of arrival
  int64_t waiting_bytes_ GUARDED_BY(mutex_) = 0;    // sum of Query::held of waiting_
};

}  // namespace hg::query
