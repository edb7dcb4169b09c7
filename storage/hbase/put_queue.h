#pragma once
// Puts of all callers on their way to HBase: those of several requests go in one call (spec
// hbase-backend.md §8). Inside of this folder only: it includes what Thrift generates.
//
// No thread of its own: of the callers that wait, one sends what stands first, for itself and for
// the others. A put goes at once where nothing of its table is on the way; beside a call that is,
// only a batch that is full does. So nobody waits while it is idle, and batches grow as calls
// become slower.

#include <hbase_types.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
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
  /// turns out to be away (Unavailable), what waits meanwhile fails with the call that found out.
  std::vector<Status> Send(const std::string& table, std::vector<Put> puts);

  /// Fills in what is waiting, and the totals of batches.
  void AddStats(HbaseStats* stats);

 private:
  struct Caller {
    std::vector<Status> statuses;
    size_t unknown = 0;  // statuses that are still to come
  };
  struct Place {
    Caller* caller;
    size_t at;  // among its statuses
  };
  struct Waiting {
    Put put;
    Place place;
  };
  struct Batch {
    std::vector<wire::TPut> puts;
    std::vector<Place> places;
  };
  /// Of a table.
  struct Lane {
    std::deque<Waiting> waiting;
    size_t waiting_bytes = 0;
    size_t calls = 0;                              // on the way
    std::unordered_set<ByteView> rows_on_the_way;  // views of the puts of their batches
    std::condition_variable changed;
  };

  // With mutex_ held:
  [[nodiscard]] bool MaySend(const Lane& lane) const;
  Batch TakeBatch(Lane* lane) const;
  static void Tell(const Place& place, Status status);
  static void FailWaiting(Lane* lane, const Status& away);

  /// Sends a batch and says what became of each.
  std::vector<Status> SendBatch(const std::string& table, const Batch& batch);

  Client* const client_;
  std::mutex mutex_;
  std::map<std::string, Lane> lanes_;  // guarded by mutex_, as all below; none is ever taken out
  uint64_t batches_ = 0;
  uint64_t rows_ = 0;
};

}  // namespace hg::hbase
