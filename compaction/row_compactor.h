#pragma once
// Implements OpenTSDB's row compaction, which merges the cells of an old row into one cell, drops
// overwritten values and repairs old encodings (opentsdb-schema.md §9, §10). The code works on
// every Store. When a scan of Points reads a row that needs compaction, the scan reports the row to
// RowCompactor. A worker thread later reads each reported row again, resolves it by the rules of
// storage/points/reconcile.h and writes one mutation. The mutation puts the compacted cell, and
// deletes the cells whose points are in the compacted cell. Row compaction never changes query
// results.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "storage/base/clock.h"
#include "storage/base/keyed_hash.h"
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
  uint64_t offered = 0;  // number of row keys that entered the queue
  // The number of row keys that were dropped because the queue was full, memory was exhausted, the
  // store was unreachable, or the RowCompactor was stopping.
  uint64_t dropped = 0;
  uint64_t rewritten = 0;      // number of rows that were changed
  uint64_t failed = 0;         // number of rows that could not be read, resolved or written
  uint64_t failed_reads = 0;   // number of the failed rows whose cells could not be read
  uint64_t failed_writes = 0;  // number of the failed rows whose changes could not be written
  uint64_t cells_written = 0;
  uint64_t cells_deleted = 0;
  size_t queued = 0;  // number of row keys in the queue now
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

  /// Adds a row key to the queue if the row is old enough and the key is not in the queue yet.
  /// `base` is the base time of the row in seconds. This function can be used as an
  /// UnsettledRowListener. It never waits for the store.
  void Offer(ByteView key, uint32_t base);
  /// Starts the worker thread. Without the worker thread, row keys stay in the queue until Drain or
  /// Stop is called.
  void Start();
  /// Processes the row keys in the queue on the calling thread. If the worker thread runs, it
  /// processes row keys at the same time. If the store returns Unavailable to the calling thread,
  /// the rest of the queue is dropped. Returns when the queue is empty and no row is being
  /// processed.
  void Drain();
  /// Ends the worker thread and calls Drain. Rows that are offered after Stop are dropped.
  /// Idempotent.
  void Stop();
  [[nodiscard]] RowCompactorStats Stats() const;

  /// The maximum memory in bytes that a read of the cells of one row may charge. A row that needs
  /// more memory is not compacted. In the embedded store, the limit is enough for a row of about
  /// 65,000 points. The limit is needed because the store is locked while a row is replaced.
  static constexpr int64_t kRowBytesMax = 8 << 20;

  /// Compacts the row with this row key, on the calling thread. Returns true if the row was
  /// changed. Returns false if the row is too young or too large (kRowBytesMax), or if it needs no
  /// compaction. Also returns false if another writer changed the row during the call; the next
  /// query that reads the row then offers it again. If the call returns InvalidArgument or
  /// Corruption, the row is unchanged.
  Result<bool> CompactRow(ByteView key);

 private:
  [[nodiscard]] bool OldEnough(uint32_t base) const;
  bool Take(Bytes* key);
  Status CompactCounted(const Bytes& key);
  /// Processes one row key from the queue, and returns the status of CompactRow for it. If the
  /// queue is empty, waits for changed_ and returns OK. The caller must hold mutex_ with `lock`.
  /// The function unlocks mutex_ while it works or waits, and locks it again before it returns.
  Status CompactNext(std::unique_lock<std::mutex>* lock);
  void Count(uint64_t RowCompactorStats::*counter, uint64_t by);
  void Work();
  void EndWorker();

  Store* const store_;
  const RowCompactorOptions options_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // The following members, except worker_, are guarded by mutex_.
  std::deque<Bytes> queue_;  // the row keys that wait to be processed
  keyed_hash::Set waiting_;  // the row keys in queue_
  size_t busy_ = 0;  // number of row keys that were taken from queue_ and are being processed
  bool stopping_ = false;
  RowCompactorStats stats_;

  std::thread worker_;
};

}  // namespace hg::compaction
