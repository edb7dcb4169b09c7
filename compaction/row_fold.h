#pragma once
// OpenTSDB's compaction of rows: the cells of an old row become one, values that lost are dropped,
// old encodings are repaired (spec schema.md §9, §10; engine.md §3 "Row fold"). The same code over
// every cells door. Scans of the points door name the rows worth it; a worker reads each again,
// settles it by the rules of storage/points/reconcile.h and writes one mutation: the compacted cell
// put, or over our own engine the surviving points, all other sources deleted. It never changes
// what a query answers.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>

#include "storage/base/clock.h"
#include "storage/model/key_layout.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::compaction {

struct RowFoldOptions {
  KeyLayout layout;
  std::string table = "tsdb";
  bool enable_compaction =
      true;  // tsd.storage.enable_compaction; off: append cells are still repaired
  ReconcileOptions reconcile;
  /// The store holds points natively: survivors stay single points, for joining them is only how
  /// such a store shows a row (engine.md §3).
  bool native_points = false;
};

struct RowFoldStats {
  uint64_t offered = 0;        // keys taken into the queue
  uint64_t dropped = 0;        // keys turned away: no room or memory, or a drain found no store
  uint64_t rewritten = 0;      // rows changed
  uint64_t failed = 0;         // rows that cannot be read or settled, or that the store refused
  uint64_t failed_reads = 0;   // of these, where the store did not give the row
  uint64_t failed_writes = 0;  // of these, where it did not take the change
  uint64_t cells_written = 0;
  uint64_t cells_deleted = 0;
  size_t queued = 0;
};

/// Thread-safe. The store and the clock outlive it.
class RowFold {
 public:
  /// Keys waiting at most; a key more is dropped, since the next query that reads the row offers it
  /// again.
  static constexpr size_t kQueueMax = 10'000;

  RowFold(Store* store, RowFoldOptions options, const Clock& clock);
  /// Stops without working off the queue.
  ~RowFold();

  /// An UnsettledRowListener: takes a row into the queue if it is old enough, once. Never blocks on
  /// the store.
  void Offer(ByteView key, uint32_t base);
  /// Starts the worker. Without it the queue waits for Drain.
  void Start();
  /// Works off what is queued, on the calling thread too; where the store is Unavailable the rest
  /// is dropped, as the queue is when it is full. Blocks.
  void Drain();
  /// Drain, and end the worker. Idempotent; later offers are dropped.
  void Stop();
  [[nodiscard]] RowFoldStats Stats() const;

  /// Rewrites one row now: true if it was changed. False for rows that are too young, settled, or
  /// changed by someone else in between (the next reader offers them again). InvalidArgument or
  /// Corruption as Reconcile: such a row stays as it is.
  Result<bool> FoldRow(ByteView key);

 private:
  [[nodiscard]] bool OldEnough(uint32_t base) const;
  bool Take(Bytes* key);
  Status FoldCounted(const Bytes& key);
  /// One key, or else waits for a change; `lock` holds mutex_ before and after. Why it failed.
  Status FoldNext(std::unique_lock<std::mutex>* lock);
  void Count(uint64_t RowFoldStats::*counter, uint64_t by);
  void Work();
  void EndWorker();

  Store* const store_;
  const RowFoldOptions options_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Bytes> queue_;            // guarded by mutex_, as all below
  std::unordered_set<Bytes> waiting_;  // the keys in queue_
  size_t busy_ = 0;                    // rows taken and not finished
  bool stopping_ = false;
  RowFoldStats stats_;

  std::thread worker_;
};

}  // namespace hg::compaction
