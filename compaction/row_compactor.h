#pragma once
// Implements OpenTSDB's row compaction, which merges the cells of an old row into one cell, drops
// overwritten values and repairs old encodings (opentsdb-schema.md §9, §10). The code works on
// every Store. When a scan of Points reads a row that needs compaction, the scan reports the row to
// RowCompactor. A worker thread later reads each reported row again, resolves it by the rules of
// storage/points/reconcile.h and writes one mutation. The mutation puts the compacted cell and
// deletes the cells that it was made from. Row compaction never changes query results.

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
  /// The setting tsd.storage.enable_compaction. If it is false, row compaction only repairs rows
  /// that contain OpenTSDB's append cells.
  bool enable_compaction = true;
  ReconcileOptions reconcile;
};

struct RowCompactorStats {
  uint64_t offered = 0;        // number of row keys that entered the queue
  uint64_t dropped = 0;        // row keys not processed: queue full, out of memory, or store down
  uint64_t rewritten = 0;      // number of rows that were changed
  uint64_t failed = 0;         // rows that could not be read, resolved or written
  uint64_t failed_reads = 0;   // rows whose cells could not be read; included in `failed`
  uint64_t failed_writes = 0;  // rows whose changes could not be written; included in `failed`
  uint64_t cells_written = 0;
  uint64_t cells_deleted = 0;
  size_t queued = 0;
};

/// Compacts rows in the background. Thread-safe. The store and the clock must outlive the object.
class RowCompactor {
 public:
  /// The maximum number of row keys in the queue. Row keys that do not fit are dropped. The next
  /// query that reads the row of a dropped key offers the row again.
  static constexpr size_t kQueueMax = 10'000;

  RowCompactor(Store* store, RowCompactorOptions options, const Clock& clock);
  /// Ends the worker thread. Row keys that are still in the queue are not processed.
  ~RowCompactor();

  /// Adds a row to the queue if the row is old enough and not in the queue yet. This function can
  /// be used as an UnsettledRowListener. It never waits for the store.
  void Offer(ByteView key, uint32_t base);
  /// Starts the worker thread. Without the worker thread, rows stay in the queue until Drain is
  /// called.
  void Start();
  /// Processes all row keys in the queue on the calling thread, while the worker thread, if it
  /// runs, processes them too. If the store returns Unavailable, the rest of the queue is dropped.
  /// Blocks until the queue is empty.
  void Drain();
  /// Processes all row keys in the queue and ends the worker thread. Idempotent. Rows that are
  /// offered after Stop are dropped.
  void Stop();
  [[nodiscard]] RowCompactorStats Stats() const;

  /// The maximum memory of a row that is compacted, as a read of its cells charges it. It is enough
  /// for about 65,000 points in the embedded store. The store is locked while a row is replaced.
  static constexpr int64_t kRowBytesMax = 8 << 20;

  /// Compacts one row now. Returns true if the row was changed. Returns false if the row is too
  /// young or too large (kRowBytesMax), needs no compaction, or was changed by another writer
  /// meanwhile. In the last case, the next query that reads the row offers the row again. If the
  /// call returns InvalidArgument or Corruption, the row is unchanged.
  Result<bool> CompactRow(ByteView key);

 private:
  [[nodiscard]] bool OldEnough(uint32_t base) const;
  bool Take(Bytes* key);
  Status CompactCounted(const Bytes& key);
  /// Processes one row key from the queue. If the queue is empty, waits until the queue changes.
  /// The caller must hold mutex_ with `lock`, and holds it again when the call returns. Returns the
  /// error of the processed row.
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
  std::unordered_set<Bytes> waiting_;  // the row keys in queue_
  size_t busy_ = 0;  // number of row keys that left the queue and are still processed
  bool stopping_ = false;
  RowCompactorStats stats_;

  std::thread worker_;
};

}  // namespace hg::compaction
