#pragma once
// Sends the puts of all callers to HBase in batches (hbase-backend.md §8). Only files in
// storage/hbase use this file, because it includes headers that Thrift generated.
//
// The queue has no thread. One of the waiting callers sends the first batch for all callers with
// puts in the batch. A put is sent at once if no call for its table is running. While a call is
// running, only full batches are sent. Therefore no caller waits while the queue is idle, and
// batches grow as calls become slower. A batch never has two puts of one column, because the region
// server may apply them in any order.

#include <hbase_types.h>

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/keyed_hash.h"
#include "storage/base/status.h"
#include "storage/hbase/hbase_stats.h"

namespace hg::hbase {

struct Client;

/// Collects puts and sends them. Thread-safe. The client must outlive the object.
class PutQueue {
 public:
  /// Maximum number of calls that run at the same time for one table.
  static constexpr size_t kCallsMax = 4;

  struct Put {
    wire::TPut put;
    size_t bytes = 0;  // size of the put, which counts towards the batch limit
  };

  explicit PutQueue(Client* client) : client_(client) {}

  /// Sends the puts and returns a status for each put, in the same order. Blocks until all statuses
  /// are known. Two puts of one row are applied in the order in which they were passed to Send,
  /// also by different callers.
  ///
  /// If HBase is unreachable (Unavailable), all waiting puts fail with the same status. If HBase is
  /// Busy, the callers whose puts HBase rejected get this status for their waiting puts, too. In
  /// tables whose writes may wait in the spool (SpoolOptions::tables), a put waits at most
  /// SpoolOptions::patience_ms for calls of other callers and then fails as Unavailable. HBase may
  /// still execute this put later, but before any later put of its row.
  std::vector<Status> Send(const std::string& table, std::vector<Put> puts);

  /// Adds the number of waiting puts and the totals of batches to `stats`.
  void AddStats(HbaseStats* stats);

 private:
  struct Caller {
    std::vector<Status> statuses;
    size_t unknown = 0;  // number of puts whose status is not known yet
    // A temporary error: HBase rejected a put but may accept it later, or the caller has waited
    // too long. Once this member is set, no more puts of this caller are sent.
    Status stopped;
  };
  struct Place {
    std::shared_ptr<Caller> caller;  // shared, because the caller may leave while its puts are sent
    size_t at;                       // index of the put in Caller::statuses
  };
  struct Waiting {
    Put put;
    Place place;
  };
  struct Batch {
    std::vector<wire::TPut> puts;
    std::vector<Place> places;
    std::vector<Status> statuses;
  };
  /// The queue of one table.
  struct TableQueue {
    std::list<Waiting> waiting;  // a list, so that moving elements needs no memory
    size_t waiting_bytes = 0;
    size_t calls = 0;  // number of running calls for the table
    keyed_hash::Set rows_on_the_way;
    std::condition_variable changed;
  };

  // Callers of the following functions must hold mutex_.
  [[nodiscard]] bool MaySend(const TableQueue& queue) const;
  /// Takes the first puts of the queue as a batch and marks their rows as being sent. If TakeBatch
  /// throws because memory cannot be allocated, the queue is unchanged.
  Batch TakeBatch(TableQueue* queue) const;
  static void Tell(const Place& place, const Status& status);
  /// If `away` is an error, fails the waiting puts of all callers with this error. If `away` is ok,
  /// fails only the waiting puts of callers whose Caller::stopped is an error. These puts fail with
  /// the error in Caller::stopped.
  static void FailWaiting(TableQueue* queue, const Status& away);
  /// Takes a batch from the queue and sends it. Releases the lock while it sends the batch.
  void SendFirst(const std::string& table, TableQueue* queue,
                 std::unique_lock<std::mutex>& lock) noexcept;

  /// Sends a batch and records the status of each put in the batch.
  void SendBatch(const std::string& table, Batch* batch) noexcept;

  Client* const client_;
  // This status is created in advance, while memory is available.
  const Status no_memory_ = Status::Unavailable("memory is short");
  std::mutex mutex_;
  // Key: table. Guarded by mutex_, like all members below. Entries are never removed.
  std::map<std::string, TableQueue> queues_;
  uint64_t batches_ = 0;
  uint64_t rows_ = 0;
};

}  // namespace hg::hbase
