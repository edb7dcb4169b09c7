#pragma once
// Puts of all callers on their way to HBase: those of several requests go in one call (spec
// hbase-backend.md §8). Inside of this folder only: it includes what Thrift generates.
//
// No thread of its own: of the callers that wait, one sends what stands first, for itself and for
// the others. A put goes at once where nothing of its table is on the way; beside a call that is,
// only a batch that is full does. So nobody waits while it is idle, and batches grow as calls
// become slower. A batch ends before a second put of one column: nothing says which of them the
// region server applies last.

#include <hbase_types.h>

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/hbase/hbase_stats.h"

namespace hg::hbase {

struct Client;

/// Thread-safe. The client outlives it.
class PutQueue {
 public:
  /// Calls on the way at most, of one table.
  static constexpr size_t kCallsMax = 4;

  struct Put {
    wire::TPut put;
    size_t bytes = 0;  // as it counts to a batch
  };

  explicit PutQueue(Client* client) : client_(client) {}

  /// What became of each put, in their order; each for itself. Blocks until all are known. Of two
  /// puts of one row the later is applied after the earlier, whoever they came from. Where HBase
  /// turns out to be away (Unavailable), what waits meanwhile fails with the call that found out;
  /// where it is Busy, what waits of the same callers does. Of a table of the spool nobody waits
  /// for calls of others longer than the spool's patience: Unavailable then, and such a put may be
  /// carried out later, but before any later one of its row.
  std::vector<Status> Send(const std::string& table, std::vector<Put> puts);

  /// Fills in what is waiting, and the totals of batches.
  void AddStats(HbaseStats* stats);

 private:
  struct Caller {
    std::vector<Status> statuses;
    size_t unknown = 0;  // statuses that are still to come
    Status stopped;      // of a put that HBase may take later: no more of this caller are sent
  };
  struct Place {
    std::shared_ptr<Caller> caller;  // shared: it may leave while its puts are on the way
    size_t at;                       // among its statuses
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
  /// Of a table.
  struct Lane {
    std::list<Waiting> waiting;  // a list: it takes and gives without memory
    size_t waiting_bytes = 0;
    size_t calls = 0;  // on the way
    std::unordered_set<Bytes> rows_on_the_way;
    std::condition_variable changed;
  };

  // With mutex_ held:
  [[nodiscard]] bool MaySend(const Lane& lane) const;
  /// Takes what stands first, and notes its rows as on the way. Throws what a want of memory
  /// throws, and has done nothing then.
  Batch TakeBatch(Lane* lane) const;
  static void Tell(const Place& place, const Status& status);
  /// Of everybody (not ok), or of callers that are stopped.
  static void FailWaiting(Lane* lane, const Status& away);
  /// Takes a batch and sends it, without the lock meanwhile.
  void SendFirst(const std::string& table, Lane* lane, std::unique_lock<std::mutex>& lock) noexcept;

  /// Sends a batch and notes what became of each.
  void SendBatch(const std::string& table, Batch* batch) noexcept;

  Client* const client_;
  const Status no_memory_ = Status::Unavailable("memory is short");  // made while there is some
  std::mutex mutex_;
  std::map<std::string, Lane> lanes_;  // guarded by mutex_, as all below; none is ever taken out
  uint64_t batches_ = 0;
  uint64_t rows_ = 0;
};

}  // namespace hg::hbase
