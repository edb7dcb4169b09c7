#pragma once
// Replays the log on several threads at start. One thread reads and decodes records. The others
// apply them, each in order for one lane (a subset of the series).

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/engine/log_body.h"
#include "storage/engine/stored_row.h"

namespace hg::points {

/// A decoded log record, or the part of it that belongs to one lane: points, or one change of a
/// row.
struct ReplayItem {
  uint64_t sequence = 0;
  std::vector<PointEntry> points;
  const Table* table = nullptr;  // the table of `row`; null: the item has points
  RowRecord row;
};

/// One thread calls Next, Add and Finish. Items are applied on the threads of the lanes.
class ReplayPipe {
 public:
  /// Each lane has its own thread, which calls `apply` for the items of the lane in order. If a
  /// lane's thread cannot be started, the thread that calls Add calls `apply` itself.
  ReplayPipe(size_t lanes, std::function<void(const ReplayItem&)> apply)
      : apply_(std::move(apply)), lanes_(lanes) {}
  ~ReplayPipe() { Finish(); }
  ReplayPipe(const ReplayPipe&) = delete;
  ReplayPipe& operator=(const ReplayPipe&) = delete;

  /// Returns the item that the caller fills before it calls Add. Its previous content has no
  /// meaning; only its memory is reused.
  [[nodiscard]] ReplayItem& Next(size_t lane) { return lanes_[lane].Next(); }
  /// Passes the item that Next returned to the thread of the lane. Blocks if that thread is far
  /// behind.
  void Add(size_t lane) { lanes_[lane].Add(apply_); }
  /// Waits until all items are applied. No items may be added afterwards.
  void Finish() {
    for (Lane& lane : lanes_) lane.End(apply_);
    for (Lane& lane : lanes_) lane.Join();
  }

 private:
  using Batch = std::vector<ReplayItem>;
  using Apply = std::function<void(const ReplayItem&)>;
  class Lane {
   public:
    ReplayItem& Next();
    void Add(const Apply& apply);
    void End(const Apply& apply);
    void Join();

   private:
    void HandOver(const Apply& apply);
    void ApplyAll(const Apply& apply);

    Batch batch_;        // used by the adding thread only
    size_t filled_ = 0;  // items of batch_ in use; used by the adding thread only
    std::thread thread_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Batch> waiting_;  // guarded by mutex_
    std::vector<Batch> spare_;   // guarded by mutex_
    bool end_ = false;           // guarded by mutex_
  };

  const Apply apply_;
  std::deque<Lane> lanes_;
};

}  // namespace hg::points
