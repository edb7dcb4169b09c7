#pragma once
// OpenTSDB's row compaction: it merges the cells of an old row into one, drops overwritten values
// and repairs old encodings (opentsdb-schema.md §9, §10). The same code works on every Store. When
// a scan of Points reads a row that needs compaction, it reports the row. A worker thread reads
// each row again, resolves it by the rules of storage/points/reconcile.h and writes one mutation.
// The mutation puts the compacted cell and deletes all other source cells. Query results never
// change.

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
  uint64_t offered = 0;        // keys that entered the queue
  uint64_t dropped = 0;        // keys that were refused: queue full, out of memory, or Drain failed
  uint64_t rewritten = 0;      // rows that were changed
  uint64_t failed = 0;         // rows that failed: unreadable, not reconcilable, or store error
  uint64_t failed_reads = 0;   // rows whose cells could not be read; included in `failed`
  uint64_t failed_writes = 0;  // rows whose changes could not be written; included in `failed`
  uint64_t cells_written = 0;
  uint64_t cells_deleted = 0;
  size_t queued = 0;
};

/// Thread-safe. The store and the clock must outlive it.
class RowCompactor {
 public:
  /// The maximum number of keys in the queue. Further keys are dropped; the next query that reads
  /// such a row offers it again.
  static constexpr size_t kQueueMax = 10'000;

  RowCompactor(Store* store, RowCompactorOptions options, const Clock& clock);
  /// Ends the worker thread. Keys that are still in the queue are not processed.
  ~RowCompactor();

  /// Adds a row to the queue if it is old enough and not in the queue yet. Can be used as an
  /// UnsettledRowListener. Never blocks on the store.
  void Offer(ByteView key, uint32_t base);
  /// Starts the worker thread. Without it, rows stay in the queue until Drain is called.
  void Start();
  /// Processes all keys in the queue on the calling thread, alongside the worker thread if it runs.
  /// If the store is Unavailable, the rest of the queue is dropped. Blocks.
  void Drain();
  /// Drains the queue and ends the worker thread. Idempotent. Later offers are dropped.
  void Stop();
  [[nodiscard]] RowCompactorStats Stats() const;

  /// Compacts one row now. Returns true if the row was changed. Returns false if the row is too
  /// young, needs no compaction, or was changed by another writer in between (the next reader
  /// offers it again). InvalidArgument or Corruption, as from Reconcile: the row stays unchanged.
  Result<bool> CompactRow(ByteView key);

 private:
  [[nodiscard]] bool OldEnough(uint32_t base) const;
  bool Take(Bytes* key);
  Status CompactCounted(const Bytes& key);
  /// Processes one key. If the queue is empty, waits until it changes. The caller holds mutex_
  /// through `lock`, and holds it again on return. Returns the error of the row.
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
  size_t busy_ = 0;  // keys that were taken from the queue and are still being processed
  bool stopping_ = false;
  RowCompactorStats stats_;

  std::thread worker_;
};

}  // namespace hg::compaction
