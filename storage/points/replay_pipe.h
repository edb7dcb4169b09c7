#pragma once
// The log after a start, on two threads: one reads and decodes records, the other applies them, in
// their order.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/points/log_body.h"
#include "storage/points/stored_row.h"

namespace hg::points {

/// A decoded record: points, or a change of a row.
struct ReplayItem {
  uint64_t sequence = 0;
  std::vector<PointEntry> points;
  const Table* table = nullptr;  // of the row; null: points
  RowRecord row;
};

/// One thread adds and ends.
class ReplayPipe {
 public:
  /// `apply` is called on a thread of its own, for one item after the other.
  explicit ReplayPipe(std::function<void(const ReplayItem&)> apply) : apply_(std::move(apply)) {}
  ~ReplayPipe() { Finish(); }
  ReplayPipe(const ReplayPipe&) = delete;
  ReplayPipe& operator=(const ReplayPipe&) = delete;

  /// The item to fill; what it held before is of no meaning, but its memory is used again.
  [[nodiscard]] ReplayItem& Next();
  /// Hands the item on. Waits where the other thread is far behind.
  void Add();
  /// Waits until all is applied; nothing is added any more.
  void Finish();

 private:
  using Batch = std::vector<ReplayItem>;
  void HandOver();
  void ApplyAll();

  const std::function<void(const ReplayItem&)> apply_;
  Batch batch_;        // the adding thread's
  size_t filled_ = 0;  // of batch_; the adding thread's
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> waiting_;  // guarded by mutex_
  std::vector<Batch> spare_;   // guarded by mutex_
  bool end_ = false;           // guarded by mutex_
};

}  // namespace hg::points
