#pragma once
// The log after a start, on several threads: one reads and decodes records, the others apply them,
// each those of a lane, in their order.

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

/// A decoded record, or what a lane has of it: points, or a change of a row.
struct ReplayItem {
  uint64_t sequence = 0;
  std::vector<PointEntry> points;
  const Table* table = nullptr;  // of the row; null: points
  RowRecord row;
};

/// One thread adds and ends.
class ReplayPipe {
 public:
  /// `apply` is called on a thread for each lane, or on the adding one where none can be had, for
  /// one item of it after the other.
  ReplayPipe(size_t lanes, std::function<void(const ReplayItem&)> apply)
      : apply_(std::move(apply)), lanes_(lanes) {}
  ~ReplayPipe() { Finish(); }
  ReplayPipe(const ReplayPipe&) = delete;
  ReplayPipe& operator=(const ReplayPipe&) = delete;

  /// The item to fill; what it held before is of no meaning, but its memory is used again.
  [[nodiscard]] ReplayItem& Next(size_t lane) { return lanes_[lane].Next(); }
  /// Hands the item on. Waits where the lane's thread is far behind.
  void Add(size_t lane) { lanes_[lane].Add(apply_); }
  /// Waits until all is applied; nothing is added any more.
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

    Batch batch_;        // the adding thread's
    size_t filled_ = 0;  // of batch_; the adding thread's
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
