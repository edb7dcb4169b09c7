#pragma once
// Implements OpenTSDB's background compaction (CompactionQueue; opentsdb-schema.md §9.1, §9.2) for
// stores that keep rows as cells. Rows that were written wait in the queue until their hour is
// over. The queue then passes them to RowCompactor, a few at a time, so that the work is spread
// over the next hour.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>

#include "compaction/row_compactor.h"
#include "storage/base/bytes.h"
#include "storage/base/clock.h"

namespace hg::compaction {

/// The settings tsd.storage.compaction.*.
struct RowQueueOptions {
  int64_t flush_interval_s = 10;  // seconds between rounds
  // A round runs only if more than this number of rows are waiting. A round may always process at
  // least this number of rows.
  uint64_t min_flush_threshold = 100;
  uint64_t max_concurrent_flushes = 10'000;  // maximum number of rows per round
  uint64_t flush_speed = 2;  // rows per round = waiting rows × interval × speed / 3600
};

struct RowQueueStats {
  size_t rows = 0;  // rows that wait for the end of their hour, or for their round
  // The number of rows that were dropped because the queue was full or memory was exhausted.
  uint64_t dropped = 0;
};

/// The queue of written rows. Thread-safe. `compactor` and `clock` must outlive the object. The
/// queue is lost when the process ends. A query that later reads a row of the lost queue offers the
/// row to RowCompactor if the row needs compaction.
class RowQueue {
 public:
  /// The maximum number of waiting rows. Each waiting row needs some 100 bytes of memory. Rows that
  /// do not fit are dropped.
  static constexpr size_t kRowsMax = 2'000'000;

  RowQueue(RowCompactor* compactor, RowQueueOptions options, const Clock& clock)
      : compactor_(compactor), options_(options), clock_(clock) {}
  /// Stops the thread of the queue.
  ~RowQueue() { Stop(); }

  /// Records that points were written to the row with this key and base hour. A row that is already
  /// in the queue is not added again.
  void Written(ByteView key, uint32_t base);
  /// Sets a function that postpones rounds: while `waits` returns true, no rows are passed to
  /// RowCompactor. `waits` should return true while writes that were reported to Written have not
  /// reached the store. If their rows were compacted earlier, the compaction would miss these
  /// writes, and the rows would not be offered again. Call PauseWhile before Start.
  void PauseWhile(std::function<bool()> waits) { waits_ = std::move(waits); }
  /// Starts a thread that runs a round every flush_interval_s seconds.
  void Start();
  /// Ends the thread of the queue. Idempotent.
  void Stop();
  /// Passes rows that are old enough to RowCompactor, the oldest hours first, within the limits of
  /// the options. Returns the number of rows passed. Passes no rows while the function given to
  /// PauseWhile returns true. Also passes no rows while RowCompactor is still working on the rows
  /// of the previous round, or if RowCompactor could not reach the store for those rows.
  size_t Round();
  [[nodiscard]] RowQueueStats Stats() const;

 private:
  void Work();

  RowCompactor* const compactor_;
  const RowQueueOptions options_;
  const Clock& clock_;
  std::function<bool()> waits_;  // the function given to PauseWhile; may be empty

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // The following members are guarded by mutex_.
  std::map<uint32_t, std::unordered_set<Bytes>> rows_;  // key: base time
  size_t count_ = 0;
  uint64_t dropped_ = 0;
  uint64_t failures_ = 0;  // number of failures of RowCompactor at the start of the last round
  bool stopping_ = false;

  std::thread worker_;
};

}  // namespace hg::compaction
