#pragma once
// Implements OpenTSDB's background compaction (CompactionQueue; opentsdb-schema.md §9.1, §9.2) for
// stores on HBase. The keys of rows that were written wait in the queue until the hour of the row
// is over. The queue then passes the keys to RowCompactor, a few at a time, so that the work is
// spread over the next hour.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "compaction/row_compactor.h"
#include "storage/base/bytes.h"
#include "storage/base/clock.h"
#include "storage/base/keyed_hash.h"

namespace hg::compaction {

/// The settings tsd.storage.compaction.*.
struct RowQueueOptions {
  int64_t flush_interval_s = 10;  // time in seconds between two calls of RowQueue::Round
  // RowQueue::Round passes no rows unless more than this number of rows are waiting. One Round may
  // always pass this number of rows, even if flush_speed allows fewer.
  uint64_t min_flush_threshold = 100;
  uint64_t max_concurrent_flushes = 10'000;  // maximum number of rows that one Round passes
  // RowQueue::Round passes at most (waiting rows × flush_interval_s × flush_speed / 3600) rows, or
  // min_flush_threshold rows if this is more.
  uint64_t flush_speed = 2;
};

struct RowQueueStats {
  size_t rows = 0;  // number of rows that wait for compaction now
  // The number of rows that were dropped because the queue was full or memory was exhausted.
  uint64_t dropped = 0;
};

/// The queue of written rows. Thread-safe. The arguments `compactor` and `clock` of the constructor
/// must outlive the object. The queue is lost when the process ends. If a query later reads a row
/// of the lost queue and the row needs compaction, the query offers the row to RowCompactor.
class RowQueue {
 public:
  /// The maximum number of waiting rows. Each waiting row needs about 100 bytes of memory. If the
  /// queue is full, further rows are dropped.
  static constexpr size_t kRowsMax = 2'000'000;

  RowQueue(RowCompactor* compactor, RowQueueOptions options, const Clock& clock)
      : compactor_(compactor), options_(options), clock_(clock) {}
  /// Stops the thread of the queue.
  ~RowQueue() { Stop(); }

  /// Records that points were written to the row with the row key `key`. `base` is the base time of
  /// the row in seconds. A row that is already in the queue is not added again.
  void Written(ByteView key, uint32_t base);
  /// Sets a function that can pause the queue. While `waits` returns true, Round passes no rows to
  /// RowCompactor. `waits` should return true while writes that were reported to Written have not
  /// reached the store. If RowCompactor compacted a row too early, the compacted cell would not
  /// contain these writes, and the queue would not pass the row again. Round calls `waits` on the
  /// thread that runs Round. Call PauseWhile before Start.
  void PauseWhile(std::function<bool()> waits) { waits_ = std::move(waits); }
  /// Starts a thread that calls Round every flush_interval_s seconds.
  void Start();
  /// Ends the thread of the queue. Idempotent.
  void Stop();
  /// Passes rows that are old enough to RowCompactor, the oldest hours first, within the limits of
  /// the options. Returns the number of rows that were passed. Passes no rows while the function
  /// that was given to PauseWhile returns true, or while row keys wait in the queue of
  /// RowCompactor. Also passes no rows if RowCompactor has failed to read or write a row since the
  /// previous call of Round.
  size_t Round();
  [[nodiscard]] RowQueueStats Stats() const;

 private:
  void Work();

  RowCompactor* const compactor_;
  const RowQueueOptions options_;
  const Clock& clock_;
  std::function<bool()> waits_;  // the function that was given to PauseWhile; may be empty

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // The following members, except worker_, are guarded by mutex_.
  using Keys = keyed_hash::Set;
  std::map<uint32_t, Keys> rows_;  // row keys by base time in seconds
  size_t count_ = 0;
  uint64_t dropped_ = 0;
  uint64_t failures_ = 0;  // failed reads and writes of RowCompactor up to the last Round
  bool stopping_ = false;

  std::thread worker_;
};

}  // namespace hg::compaction
