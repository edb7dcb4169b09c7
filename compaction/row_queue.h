#pragma once
// OpenTSDB's background compaction (CompactionQueue; spec schema.md §9.1, §9.2), for stores whose
// rows are cells: rows that were written wait until their hour is over, and are then handed to the
// fold a few at a time, so that they spread over the next hour.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>

#include "compaction/row_fold.h"
#include "storage/base/bytes.h"
#include "storage/base/clock.h"

namespace hg::compaction {

struct RowQueueOptions {
  int64_t flush_interval_s = 10;       // between rounds; tsd.storage.compaction.*, as all of these
  uint64_t min_flush_threshold = 100;  // a round needs more rows than these, and may take as many
  uint64_t max_concurrent_flushes = 10'000;  // rows of a round at most
  uint64_t flush_speed = 2;                  // rows of a round: all · interval · speed / 3600
};

struct RowQueueStats {
  size_t rows = 0;       // that wait for their hour to end, or for their round
  uint64_t dropped = 0;  // rows that were not taken, or not handed on: too many, or no memory
};

/// Thread-safe. The fold and the clock outlive it. What waits is lost with the process; such rows
/// are folded when a query meets them, if they need it.
class RowQueue {
 public:
  /// Rows waiting at most, of some 100 bytes each; a row more is dropped.
  static constexpr size_t kRowsMax = 2'000'000;

  RowQueue(RowFold* fold, RowQueueOptions options, const Clock& clock)
      : fold_(fold), options_(options), clock_(clock) {}
  /// Stops.
  ~RowQueue() { Stop(); }

  /// Points were put into the row. A row that waits is not taken twice.
  void Written(ByteView key, uint32_t base);
  /// No rounds while `waits` says that writes which were told here are still on their way to the
  /// store: a row would be folded without them, and not again. Before Start.
  void PauseWhile(std::function<bool()> waits) { waits_ = std::move(waits); }
  /// Starts a thread that makes rounds.
  void Start();
  /// Ends it. Idempotent.
  void Stop();
  /// Hands rows that are old enough to the fold, the oldest hours first, as many as the options
  /// say; how many. None during a pause, while the fold has not done with those of the round
  /// before, or could not reach the store for them.
  size_t Round();
  [[nodiscard]] RowQueueStats Stats() const;

 private:
  void Work();

  RowFold* const fold_;
  const RowQueueOptions options_;
  const Clock& clock_;
  std::function<bool()> waits_;  // may be empty

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<uint32_t, std::unordered_set<Bytes>> rows_;  // keys by base
  size_t count_ = 0;
  uint64_t dropped_ = 0;
  uint64_t failures_ = 0;  // of the fold, when the round before began
  bool stopping_ = false;

  std::thread worker_;
};

}  // namespace hg::compaction
