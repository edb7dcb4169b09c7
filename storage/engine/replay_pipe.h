#pragma once
// Replays the log on several threads at start. One thread reads and decodes log records. Each of
// the other threads applies the records of one shard (a subset of the series) in order.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/engine/log_body.h"
#include "storage/engine/stored_row.h"

namespace hg::engine {

/// A decoded log record, or the part of a record that belongs to one shard. It contains either
/// points or one change of a row.
struct ReplayItem {
  uint64_t sequence = 0;
  std::vector<PointEntry> points;
  const Table* table = nullptr;  // the table of `row`; null if the item has points
  RowRecord row;
};

/// Passes decoded log records to the threads of the shards. One thread calls Next, Add and Finish.
/// The threads of the shards apply the items.
class ReplayPipe {
 public:
  /// Each shard has its own thread, which calls `apply` for the items of the shard in order. If the
  /// thread of a shard cannot be started, the thread that calls Add calls `apply` instead.
  ReplayPipe(size_t shards, std::function<void(const ReplayItem&)> apply)
      : apply_(std::move(apply)), shards_(shards) {}
  ~ReplayPipe() { Finish(); }
  ReplayPipe(const ReplayPipe&) = delete;
  ReplayPipe& operator=(const ReplayPipe&) = delete;

  /// Returns an item, which the caller must fill before it calls Add. The previous content of the
  /// item has no meaning; only its memory is reused.
  [[nodiscard]] ReplayItem& Next(size_t shard) { return shards_[shard].Next(); }
  /// Passes the item that Next returned to the thread of the shard. Blocks if the thread of the
  /// shard has too many items to apply.
  void Add(size_t shard) { shards_[shard].Add(apply_); }
  /// Waits until all items are applied. No items may be added after Finish.
  void Finish() {
    for (Shard& shard : shards_) shard.End(apply_);
    for (Shard& shard : shards_) shard.Join();
  }

 private:
  using Batch = std::vector<ReplayItem>;
  using Apply = std::function<void(const ReplayItem&)>;
  class Shard {
   public:
    ReplayItem& Next();
    void Add(const Apply& apply);
    void End(const Apply& apply);
    void Join();

   private:
    void HandOver(const Apply& apply);
    void ApplyAll(const Apply& apply);

    Batch batch_;        // only the thread that adds items uses it
    size_t filled_ = 0;  // number of used items in batch_; only the thread that adds items uses it
    std::thread thread_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Batch> waiting_;  // guarded by mutex_
    std::vector<Batch> spare_;   // guarded by mutex_
    bool end_ = false;           // guarded by mutex_
  };

  const Apply apply_;
  std::deque<Shard> shards_;
};

}  // namespace hg::engine
