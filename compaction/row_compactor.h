#pragma once
// OpenTSDB's row compaction: it merges the cells of an old row into one, drops overwritten values
// and repairs old encodings (opentsdb-schema.md §9, §10). The same code works on every Store. When
// a scan of Points reads a row that needs compaction, it reports the row. A worker thread reads
// each of these rows again, resolves it by the rules of storage/points/reconcile.h and writes one
// mutation. The mutation puts the compacted cell and deletes all other source cells. Query results
// never change.

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

struct RowCompactorOptions {
  KeyLayout layout;
  std::string table = "tsdb";
  /// The setting tsd.storage.enable_compaction. If false, only rows with OpenTSDB's append cells
  /// are repaired.
  bool enable_compaction = true;
  ReconcileOptions reconcile;
};

struct RowCompactorStats {
  uint64_t offered = 0;        // number of keys that entered the queue
  uint64_t dropped = 0;        // rejected keys: queue full, out of memory, or Drain failed
  uint64_t rewritten = 0;      // number of rows that were changed
  uint64_t failed = 0;         // rows that could not be read, resolved or written
  uint64_t failed_reads = 0;   // rows whose cells could not be read; included in `failed`
  uint64_t failed_writes = 0;  // rows whose changes could not be written; included in `failed`
  uint64_t cells_written = 0;
  uint64_t cells_deleted = 0;
  size_t queued = 0;
};

/// Thread-safe. The store and the clock must outlive the object.
class RowCompactor {
 public:
  /// The maximum number of keys in the queue. Further keys are dropped. The next query that reads
  /// the row of a dropped key offers the row again.
  static constexpr size_t kQueueMax = 10'000;

  RowCompactor(Store* store, RowCompactorOptions options, const Clock& clock);
  /// Ends the worker thread. Does not process keys that are still in the queue.
  ~RowCompactor();

  /// Adds a row to the queue if it is old enough and not in the queue yet. Can be used as an
  /// UnsettledRowListener. Never blocks on the store.
  void Offer(ByteView key, uint32_t base);
  /// Starts the worker thread. Without it, rows stay in the queue until Drain is called.
  void Start();
  /// Processes all keys in the queue on the calling thread, and concurrently on the worker thread
  /// if it runs. If the store is Unavailable, drops the rest of the queue. Blocks.
  void Drain();
  /// Processes all keys in the queue and ends the worker thread. Idempotent. Drops later offers.
  void Stop();
  [[nodiscard]] RowCompactorStats Stats() const;

  /// Compacts one row now. Returns true if the row was changed. Returns false if the row is too
  /// young, needs no compaction, or was changed by another writer meanwhile (the next query that
  /// reads the row offers the row again). After InvalidArgument or Corruption the row is unchanged.
  Result<bool> CompactRow(ByteView key);

 private:
  [[nodiscard]] bool OldEnough(uint32_t base) const;
  bool Take(Bytes* key);
  Status CompactCounted(const Bytes& key);
  /// Processes one key. If the queue is empty, waits until it changes. The caller must hold mutex_
  /// with `lock`, and holds it again when the call returns. Returns the error of the row.
  Status CompactNext(std::unique_lock<std::mutex>* lock);
  void Count(uint64_t RowCompactorStats::*counter, uint64_t by);
  void Work();
  void EndWorker();

  Store* const store_;
  const RowCompactorOptions options_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Bytes> queue_;            // guarded by mutex_, like all members below
  std::unordered_set<Bytes> waiting_;  // the keys in queue_
  size_t busy_ = 0;  // number of keys that are not in the queue any more but still processed
  bool stopping_ = false;
  RowCompactorStats stats_;

  std::thread worker_;
};

}  // namespace hg::compaction
